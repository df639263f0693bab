// Whether the kernel starts a file by itself. What it takes for no program, the C library hands to /bin/sh, also when
// that is a script's interpreter: such files are not started at all.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { errorMessage } from "../../contracts/error.ts";

/** Goes on a sentence that begins with the file; undefined for a program. Throws when the file cannot be read. */
export function whyNoProgram(file: string): string | undefined {
  return judge(file, INTERPRETED);
}

function judge(file: string | Buffer, interpreted: number): string | undefined {
  const beginning = beginningOf(file);
  if (!beginning) return "is not a file";
  if (!isScript(beginning.bytes))
    return isBinary(beginning) ? undefined : "begins with no #! line and is no program of this machine";
  const interpreter = interpreterOf(beginning);
  if (!interpreter) return "names no interpreter by its path in the #! line";
  if (interpreted === 0) return "is a script, which is no interpreter here";
  const problem = judgeInterpreter(interpreter, interpreted - 1);
  return problem && `cannot be started, because its interpreter ${interpreter} ${problem}`;
}

function judgeInterpreter(interpreter: Buffer, interpreted: number): string | undefined {
  try {
    return judge(interpreter, interpreted);
  } catch (thrown) {
    return `cannot be read: ${errorMessage(thrown)}`;
  }
}

/** How many scripts may follow from one another, each the interpreter of the one before. */
const INTERPRETED = process.platform === "linux" ? 4 : 1;

type Beginning = {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
};

/** As much as Linux looks at. */
const BEGINNING_BYTES = 256;

function beginningOf(file: string | Buffer): Beginning | undefined {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK); // a pipe does not wait for its writer
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.alloc(BEGINNING_BYTES);
    return { bytes: bytes.subarray(0, readSync(descriptor, bytes)), size: stats.size };
  } finally {
    closeSync(descriptor);
  }
}

function isScript(bytes: Buffer): boolean {
  return bytes[0] === 0x23 && bytes[1] === 0x21; // #!
}

/** Its path ends with a space, a line break, or the file: one that is cut off would be another program's. */
function interpreterOf({ bytes, size }: Beginning): Buffer | undefined {
  const line = bytes.toString("latin1", 0, BEGINNING_BYTES - 1) + (size < BEGINNING_BYTES ? "\n" : "");
  const [before = "", path = ""] = /^(#![ \t]*)(\/[^ \t\n\0]*)[ \t\n\0]/.exec(line)?.slice(1) ?? [];
  return path === "" ? undefined : bytes.subarray(before.length, before.length + path.length);
}

function isBinary(beginning: Beginning): boolean {
  return process.platform === "darwin" ? isMachO(beginning) : isElf(beginning);
}

const MACH_O_64 = 0xfeedfacf;
const EXECUTABLE = 2;
const UNIVERSAL = 0xcafebabe;
/** Class files of Java begin alike, with a version from 45 on in this place. */
const MOST_ARCHITECTURES = 30;

/** One for another processor is refused by name, and not handed on. */
function isMachO({ bytes }: Beginning): boolean {
  if (bytes.length < 16) return false;
  if (bytes.readUInt32LE(0) === MACH_O_64) return bytes.readUInt32LE(12) === EXECUTABLE;
  const architectures = bytes.readUInt32BE(4);
  return bytes.readUInt32BE(0) === UNIVERSAL && architectures > 0 && architectures < MOST_ARCHITECTURES;
}

const ELF_HEADER_BYTES = 64;
/** What the file is, of which class and byte order: the bytes with which an ELF file for the same processor begins. */
const IDENTITY_BYTES = 7;
const [PROGRAM, POSITION_INDEPENDENT] = [2, 3];

/** For the processor that runs this process, and with a table of what to load. */
function isElf({ bytes, size }: Beginning): boolean {
  const own = ownBeginning();
  if (bytes.length < ELF_HEADER_BYTES || own.compare(bytes, 0, IDENTITY_BYTES, 0, IDENTITY_BYTES) !== 0) return false;
  const [is64, isLittle] = [bytes[4] === 2, bytes[5] === 1];
  const short = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const longer = (at: number) => Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  const table = is64
    ? { offset: longer(32), entryBytes: short(54), entries: short(56), expected: 56 }
    : { offset: long(28), entryBytes: short(42), entries: short(44), expected: 32 };
  const isKind = [PROGRAM, POSITION_INDEPENDENT].includes(short(16)) && bytes.readUInt16LE(18) === own.readUInt16LE(18);
  const { offset, entryBytes, entries, expected } = table;
  return isKind && entryBytes === expected && entries > 0 && offset + entries * entryBytes <= size;
}

let ownFile: Buffer | undefined;

function ownBeginning(): Buffer {
  ownFile ??= beginningOf(process.execPath)?.bytes ?? Buffer.alloc(0);
  return ownFile;
}
