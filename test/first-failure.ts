// How properties over random commands end: with the first failure, whose seed and path are printed. Looking for a smaller
// counterexample takes minutes, and a time limit would end slow machines before they have run anything: SHRINK=1 looks for one.
export const firstFailure = { endOnFailure: process.env.SHRINK === undefined };
