// Numbers as the audit writes them. Zero is written in one way only, so that no change stays unnoticed.
import { z } from "zod";

const whole = z.int().refine((number) => !Object.is(number, -0), "is not a number that we write");

export const count = whole.min(0);

/** The number of a last event: -1 where there is none. */
export const last = whole.min(-1);
