import { expect, it } from "vitest";
import { parseRfc3339 } from "./rfc3339.ts";

it.each([
  ["2027-01-31T12:00:00Z", "2027-01-31T12:00:00.000Z"],
  ["2027-01-31t12:00:00.25z", "2027-01-31T12:00:00.250Z"],
  ["2027-01-31 12:00:00+02:00", "2027-01-31T10:00:00.000Z"],
  ["2028-02-29T00:00:00-23:59", "2028-02-29T23:59:00.000Z"],
  ["2027-02-29T00:00:00Z", undefined],
  ["2027-02-30T00:00:00Z", undefined],
  ["2027-04-31T00:00:00Z", undefined],
  ["2027-00-10T00:00:00Z", undefined],
  ["2027-13-01T00:00:00Z", undefined],
  ["2027-01-00T00:00:00Z", undefined],
  ["2027-01-01T24:00:00Z", undefined],
  ["2027-01-01T12:60:00Z", undefined],
  ["2027-01-01T12:00:60Z", undefined],
  ["2027-01-01T12:00:00+24:00", undefined],
  ["2027-01-01T12:00:00", undefined],
  ["2027-01-01", undefined],
  ["tomorrow", undefined],
])("%s is %s", (text, time) => {
  expect(parseRfc3339(text)).toBe(time);
});
