import { type Action, allows, allowsAll, allowsAny, forbidden } from "./grant.ts";
import type { Principal } from "./principal.ts";

/** Asks a principal, on every call, whether it may. Each `enter` counts as one request. */
export class Permit {
  readonly principal: Principal;

  constructor(principal: Principal) {
    this.principal = principal;
  }

  /** One of the actions on what is so named. */
  enter(actions: Action | readonly Action[], name: string): void {
    this.principal.charge();
    this.check(actions, name);
  }

  /** As `enter`, within a call that was counted. */
  check(actions: Action | readonly Action[], name: string): void {
    if (!this.can(actions, name)) throw forbidden(actions, name);
  }

  /** Something on what is so named. */
  enterAny(name: string): void {
    this.principal.charge();
    if (!this.sees(name)) throw forbidden(["produce", "consume"], name);
  }

  /** The action on everything. */
  enterAll(action: Action): void {
    this.principal.charge();
    if (!this.canAll(action)) throw forbidden(action, "*");
  }

  /** Any key that is valid now. */
  enterValid(): void {
    this.principal.charge();
    this.principal.grants();
  }

  can(actions: Action | readonly Action[], name: string): boolean {
    const grants = this.principal.grants();
    if (typeof actions === "string") return allows(grants, actions, name);
    return actions.some((action) => allows(grants, action, name));
  }

  canAll(actions: Action | readonly Action[]): boolean {
    const grants = this.principal.grants();
    if (typeof actions === "string") return allowsAll(grants, actions);
    return actions.some((action) => allowsAll(grants, action));
  }

  sees(name: string): boolean {
    return allowsAny(this.principal.grants(), name);
  }

  /** Whether it may, with no error for a key that is no longer valid. */
  still(actions: Action | readonly Action[], name: string): boolean {
    try {
      return this.can(actions, name);
    } catch {
      return false;
    }
  }
}
