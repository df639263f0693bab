// Which version of the loop's stored state this program writes and can go on with.

export const STATE_VERSION = 1;
