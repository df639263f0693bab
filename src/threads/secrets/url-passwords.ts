// Passwords in URLs, such as `postgres://user:password@host/database`: the name of a variable that holds one need not tell.
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";

/** A user name, which may be empty, and a password. Neither holds what would end the authority of a URL. */
const USERINFO = /:\/\/([^\s/?#@:]*):([^\s/?#]+)@/g;

/** Every password in the text, as it is written there and as it is meant. */
export function urlPasswords(text: string): readonly string[] {
  return [...text.matchAll(USERINFO)].flatMap(([, , password = ""]) => {
    const meant = decoded(password);
    return meant === password ? [password] : [password, meant];
  });
}

export function withoutUrlPasswords(text: string): string {
  return text.replace(USERINFO, (_match, user: string) => `://${user}:${REDACTED}@`);
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    // It is no URL then, and the password is what stands there.
    return password;
  }
}
