import type { Pool } from 'pg'
import type { Route } from '../../auth/route.ts'
import type { Call, Send } from './send.ts'

/** Parameters of paths by the noun before them: of `/api/projects/{name}`, `projects` and `name`. */
export type Nouns = Record<string, Record<string, string>>
/** What names the things of a person: in paths, and in fields of these names in bodies and queries. */
export type Fixture = { nouns: Nouns; fields: Record<string, unknown> }

export type SignedIn = { username: string; password: string; token: string; cookie: string }

/** What the samples made so far, for those that come after them in the list. */
export type Made = Fixture & {
  /** Of the owner's external run: the live ingest token, and one that ended. */
  tokens: { ingest: string; ended: string }
}

/** Who a sample is made for, and by what calls. */
export type Making = {
  owner: SignedIn
  /** A person whom the owner may let in. */
  friend: string
  made: Made
  send: Send
  /** For what no call makes. */
  pool: Pool
  /** Calls as the owner; any status but 200 is thrown. */
  ask<T>(call: Call): Promise<T>
  /** Reports as the owner's run, by its token. */
  report(route: string, body: object): Promise<void>
}

/** Two of these, each with one row in every table of the read models, stand for all people. */
export type RowOwner = { username: string; project: string; run_id: string; no: number }

export type TableSample = {
  /**
   * Who sees the rows: `members` of the project; the `owner`, and everybody once it is published; the `owner
   * alone`; `everybody`, for the rows say nothing of people. Administrators see all.
   */
  seenBy: 'members' | 'owner' | 'owner alone' | 'everybody'
  /** Has a run's id or number, by which a stream that several people share may read it. */
  isOfRun?: true
  /** The sample leaves a row in it. */
  isFilled?: true
  /** How many rows of a view belong to one owner, where it is not one. */
  rowsEach?: number
  /** Columns by which the owners' rows differ, but for `username`, `owner`, `project` and `run_id`. */
  cells?(owner: RowOwner): Record<string, unknown>
}

/** A changing request of the audit's test, where the path and the smallest body of the samples do not do. */
export type Change = {
  body?(server: SampleServer): object | Promise<object>
  path?(server: SampleServer): Promise<string>
  /** Why the route leaves no event. */
  leavesNoEvent?: string
}

/** One thing of a slice as the tests of authorization, row-level security and the audit make and name it. */
export type Sample = {
  /** The slice's folder in `command-api/`, `query-api/` or `projector/`. */
  slice: string
  /** Makes one through the API and returns what names it. */
  make?(making: Making): Promise<Partial<Made>>
  /** Names of the same shape that nobody's thing has; `whose` tells several such apart. */
  missing?(own: Fixture, whose: string): Partial<Fixture>
  /** Nouns whose names are to be hidden from everybody but their people. */
  hidden?: readonly string[]
  /** Each GET route for persons that names nothing: to whom its answer belongs. */
  lists?: Record<string, 'its people' | 'the caller' | 'everybody'>
  /** Other queries of the lists that belong to their people, for instance other orders. */
  moreLists?: readonly string[]
  tables?: Record<string, TableSample>
  /** SQL that makes this owner's rows everybody's to see. */
  publish?(owner: RowOwner): string
  /** By method and path. */
  changes?: Record<string, Change>
}

/** Whoever may show a credential, and what: each is sent to every route. */
export const kinds = [
  'admin',
  'operator',
  'ingest token',
  'ingest token in its own header',
  'ingest token of another run',
  'ended ingest token',
  'refresh cookie',
  'refresh cookie of an ended session',
  'deployment token',
  'metrics token',
  'expired',
  'revoked',
  'malformed',
  'no bearer',
  'none',
] as const
export type Kind = (typeof kinds)[number]

/** A whole server in the process of the test, and people who each have one of everything. */
export type SampleServer = {
  /** Connections of the test's own to the server's database. */
  pool: Pool
  /** The very table that the server answers from. */
  routes: readonly Route[]
  send: Send
  people: Record<'admin' | 'operator' | 'another', SignedIn>
  /** `missing` and `free` name what nobody has. */
  fixtures: Record<'admin' | 'operator' | 'another' | 'missing' | 'free', Fixture>
  /** Headers that show a credential of this kind. */
  credentials: Record<Kind, Record<string, string>>
  /** The same, of a session that was begun for this one call: for calls that end it. */
  ownSession(kind: Kind): Promise<Record<string, string>>
  /** Somebody who has nothing. */
  newPerson(username: string): Promise<SignedIn>
}
