// The reference ring: the section "Ring" of docs/scheduling.md word for word, with arrays.
//
// A member's position S is `round + rest / weight`, in whole numbers. It is in the newcomers' list,
// or in the list of round floor(S); the round number R is `#round`.

export interface Member {
  weight: number;
  round: number;
  rest: number;
  // The ring forgets all positions when no member is active. A position of an older era is void.
  era: number;
}

export class Ring<M extends Member> {
  #round = 0;
  #era = 0;
  #newcomers: M[] = [];
  readonly #rounds = new Map<number, M[]>();
  #wasNewcomer = false;
  // Newcomers this round still takes in; unknown until the first job of a ring that was idle.
  #joins: number | undefined;
  // Members when the job being served was picked.
  #before = 0;
  // While this round is used up: the newcomers that were there at that moment.
  #closing: Set<M> | undefined;

  get isEmpty(): boolean {
    return this.#newcomers.length === 0 && this.#rounds.size === 0;
  }

  activate(member: M): void {
    if (member.era !== this.#era) {
      member.era = this.#era;
      member.round = 0;
      member.rest = 0;
    }
    if (member.round <= this.#round) this.#newcomers.push(member);
    else this.#push(member);
  }

  deactivate(member: M): void {
    this.#remove(member);
    this.#forgetWhenEmpty();
  }

  // The member that is due. Calling it twice changes nothing.
  next(): M | undefined {
    if (this.isEmpty) return undefined;
    for (;;) {
      const closing = this.#closing;
      const present = this.#newcomers.find((newcomer) => closing?.has(newcomer));
      if (present !== undefined) return present;
      const left = this.#rounds.get(this.#round);
      if (left !== undefined) {
        this.#closing = undefined;
        const newcomer = this.#newcomers[0];
        return newcomer !== undefined && !this.#wasNewcomer ? newcomer : left[0];
      }
      if (closing === undefined) this.#closing = new Set(this.#newcomers);
      else this.#begin();
    }
  }

  #begin(): void {
    this.#closing = undefined;
    const later = [...this.#rounds.keys()];
    const isAwaited = this.#newcomers.length > 0;
    this.#round = isAwaited ? this.#round + 1 : Math.min(...later);
    this.#joins = Math.max(64, this.#size);
    this.#wasNewcomer = false;
  }

  // Serves a member a job. `staysActive`: whether it has another job to give.
  serve(member: M, cost: number, staysActive: boolean): void {
    const isNewcomer = this.#newcomers.includes(member);
    this.#before = this.#size;
    this.#remove(member);
    if (member.round < this.#round) {
      member.round = isNewcomer ? this.#join() : this.#round;
      member.rest = 0;
    }
    charge(member, cost);
    this.#wasNewcomer = isNewcomer;
    if (staysActive) this.#push(member);
    else this.#forgetWhenEmpty();
  }

  // The round that a newcomer joins: this one, or the next when this has taken in enough.
  #join(): number {
    this.#joins ??= Math.max(64, this.#before);
    if (this.#joins === 0) return this.#round + 1;
    this.#joins -= 1;
    return this.#round;
  }

  get #size(): number {
    return this.#newcomers.length + [...this.#rounds.values()].flat().length;
  }

  #push(member: M): void {
    const list = this.#rounds.get(member.round);
    if (list === undefined) this.#rounds.set(member.round, [member]);
    else list.push(member);
  }

  #remove(member: M): void {
    this.#closing?.delete(member);
    this.#newcomers = this.#newcomers.filter((other) => other !== member);
    for (const [round, list] of this.#rounds) {
      const at = list.indexOf(member);
      if (at >= 0) list.splice(at, 1);
      if (list.length === 0) this.#rounds.delete(round);
    }
  }

  #forgetWhenEmpty(): void {
    if (!this.isEmpty) return;
    this.#era += 1;
    this.#round = 0;
    this.#wasNewcomer = false;
    this.#closing = undefined;
    this.#joins = undefined;
  }
}

function charge(member: Member, cost: number): void {
  member.rest += cost;
  member.round += Math.floor(member.rest / member.weight);
  member.rest %= member.weight;
}

// Keeps the round and rescales the remainder, rounded up.
export function reweigh(member: Member, weight: number): void {
  member.rest = Math.ceil((member.rest * weight) / member.weight);
  member.weight = weight;
}
