import { KEY_ROLES, roleGrants } from "@sluice/protocol";

/** What a key may do, a line for each grant: `consume orders.*`. */
export interface KeyGrant {
  action: string;
  on: string;
  gates?: readonly string[];
}

export function grantLines(grants: readonly KeyGrant[]): string[] {
  return grants.map(({ action, on, gates }) => {
    const more = gates === undefined ? "" : `, gates ${gates.join(" ") || "none"}`;
    return `${action} ${on}${more}`;
  });
}

/** The role that these grants are, and on which queues: `viewer of orders.*`. */
export function roleText(grants: readonly KeyGrant[]): string | undefined {
  const [first, ...more] = grants;
  if (first === undefined || more.length > 0) return undefined;
  const { on } = first;
  const role = KEY_ROLES.find((one) => isSame(roleGrants(one, on)[0]!, first));
  if (role === undefined) return undefined;
  return on === "*" ? role : `${role} of ${on}`;
}

const isSame = (one: KeyGrant, other: KeyGrant): boolean =>
  grantLines([one])[0] === grantLines([other])[0];

export function readGrants(text: string): KeyGrant[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new Error("a key needs a grant, such as: consume *");
  return lines.map((line) => {
    const [action = "", on = "", ...more] = line.trim().split(/\s+/);
    if (on !== "" && more.length === 0) return { action, on };
    throw new Error(`"${line.trim()}" is no grant: write an action and a queue, such as consume *`);
  });
}
