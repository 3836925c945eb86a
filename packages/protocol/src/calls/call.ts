/**
 * What a row of the table of calls says. A call is described once, in its row. Its type, the checks
 * of its arguments, its form on the wire, who may make it, how a cluster passes it on, its HTTP
 * route and the reference page are made from the row.
 */
import type { Kind, Schema } from "../kinds.ts";
import type { Action } from "../roles.ts";
import type { CallOptions, OperationOptions } from "./options.ts";

/** What a call is about. Its first argument names it, unless it is about the broker as a whole. */
export type Subject = "job" | "group" | "queue" | "gate" | "store" | "broker";

/**
 * Who may make a call: those with this right on its subject. `either` is produce or view, `any`
 * is any right at all, `key` any valid key. Of a gate, `admin` sets its limits and `cool` cools it.
 */
export type Right = Action | "either" | "any" | "key" | "cool";

/** How a call names its jobs: by an id, by many, by lease tokens, or by items with a `lease`. */
export type JobNames = "id" | "ids" | "leases" | "items";

/**
 * Where job ids are in an answer: it is one job, a page of jobs, a group with its members, the last
 * jobs of one schedule or of a page of them, the examples of failures, or what workers hold.
 */
export type IdPlace =
  | ("one" | "items" | "members" | "schedule" | "schedules")
  | ("failures" | "workers");

export interface Argument<T = unknown> {
  readonly name: string;
  readonly kind: Kind<T>;
  readonly isOptional: boolean;
}

type Method = "GET" | "PUT" | "POST" | "DELETE";

/**
 * The HTTP route of a call. Arguments are parameters of the path, by their names; the others, and
 * the options, are fields of the body, or of the query of a GET or DELETE.
 */
export interface HttpRoute {
  readonly route: `${Method} /v1/${string}`;
  /** The argument that is the whole body. */
  readonly body?: string;
  /** The field that holds an answer which is no object. */
  readonly field?: string;
  /** The route is written by hand, for it does more than the call. */
  readonly isOwn?: true;
}

/** A row as its readers see it. */
export interface CallRow {
  /** One sentence for the reference. */
  readonly says: string;
  readonly about: Subject;
  readonly args: readonly Argument[];
  /** Its own options, without those that every call has. */
  readonly options: Readonly<Record<string, Kind>>;
  readonly may: Right;
  /**
   * `read`: it changes nothing. `again`: made twice it does what it does once. `once`: it is made
   * under an operation id, so that a repetition gets the first answer.
   */
  readonly repeat: "read" | "again" | "once";
  /** It answers when something has happened, however long that takes. */
  readonly waits: boolean;
  readonly jobs: JobNames | undefined;
  /** In a cluster the partition adds its number to the ids in the answer. */
  readonly ids: IdPlace | undefined;
  /** Where bytes are in its answer: payloads and results of one job, or of the items of a page. */
  readonly bytes: "one" | "items" | undefined;
  /** Its answer is a list in which `undefined` means something. */
  readonly hasHoles: boolean;
  /** It takes a batch and answers item by item: `answer` is the shape of one item's `ok`. */
  readonly each: boolean;
  /** Its second argument is a list of jobs, whose payloads are bytes. */
  readonly sendsJobs: boolean;
  /** It has frames of its own on the wire. */
  readonly isHot: boolean;
  readonly http: HttpRoute | undefined;
  /** The shape of its answer; absent: nothing is answered. */
  readonly answer: Schema | undefined;
}

declare const TYPES: unique symbol;

/** A row with the types of its call: arguments, answer and options. */
export interface TypedCall<A extends readonly unknown[], R, O> extends CallRow {
  readonly [TYPES]?: (args: A, options: O) => R;
}

type OwnOptions<O> = Omit<O, keyof OperationOptions>;

type Told<A extends readonly unknown[], O> = Pick<CallRow, "says" | "about" | "may" | "repeat"> &
  Partial<
    Pick<
      CallRow,
      "waits" | "jobs" | "ids" | "bytes" | "hasHoles" | "each" | "sendsJobs" | "isHot" | "answer"
    >
  > & {
    readonly args: { readonly [I in keyof A]-?: Argument<NonNullable<A[I]>> };
    readonly http?: HttpRoute["route"] | HttpRoute;
  } & (keyof OwnOptions<O> extends never
    ? { readonly options?: undefined }
    : { readonly options: { readonly [N in keyof OwnOptions<O>]-?: Kind } });

/** Makes a row: the types are given by hand, everything else comes from `told`. */
export function call<A extends readonly unknown[], R, O extends CallOptions = CallOptions>(
  told: Told<A, O>,
): TypedCall<A, R, O> {
  const { http } = told;
  return {
    waits: false,
    jobs: undefined,
    ids: undefined,
    bytes: undefined,
    hasHoles: false,
    each: false,
    sendsJobs: false,
    isHot: false,
    answer: undefined,
    ...told,
    args: told.args as readonly Argument[],
    options: (told.options ?? {}) as Readonly<Record<string, Kind>>,
    http: typeof http === "string" ? { route: http } : http,
  };
}

export function arg<T>(name: string, kind: Kind<T>): Argument<T> {
  return { name, kind, isOptional: false };
}

export function optional<T>(name: string, kind: Kind<T>): Argument<T> {
  return { name, kind, isOptional: true };
}

/** The calls of a table as methods: their arguments, then their options. */
export type CallsOf<Table> = {
  [N in keyof Table]: Table[N] extends TypedCall<infer A, infer R, infer O>
    ? (...args: [...A, options?: O]) => Promise<R>
    : never;
};
