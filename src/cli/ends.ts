// What is said when somebody has asked a server for its end.

export const ENDS = "Ends: what is under way comes to a commit first.";
