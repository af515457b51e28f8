import type { Pool } from 'pg'
import type { Route } from '../../auth/route.ts'
import type { Call, Send } from './send.ts'

/** Parameters of paths by the noun before them: for `/api/projects/{name}`, `projects` and `name`. */
export type Nouns = Record<string, Record<string, string>>
/** The names of a person's things: in paths, and in these fields of bodies and queries. */
export type Fixture = { nouns: Nouns; fields: Record<string, unknown> }

/** `recovery`: unused recovery codes, which stand in for the passkey of the samples. */
export type SignedIn = {
  username: string
  password: string
  recovery: string[]
  token: string
  cookie: string
}

/** Everything that the samples so far have created, for later samples in the list. */
export type Made = Fixture & {
  /** The ingest tokens of the owner's external run: the valid one, and a revoked one. */
  tokens: { ingest: string; ended: string }
}

/** For whom a sample is made, and the calls to make it. */
export type Making = {
  owner: SignedIn
  /** A person to whom the owner may give access. */
  friend: string
  made: Made
  send: Send
  /** For things that no API call can make. */
  pool: Pool
  dataDir: string
  /** Calls as the owner; any status but 200 is thrown. */
  ask<T>(call: Call): Promise<T>
  /** Reports as the owner's run, by its token. */
  report(route: string, body: object): Promise<void>
}

/** Two of these, each with one row in every table of the read models, represent all people. */
export type RowOwner = { username: string; project: string; run_id: string; no: number }

export type TableSample = {
  /**
   * Who sees the rows: `members` of the project; the `owner`, and everybody once published; the `owner alone`;
   * `everybody`, because the rows are not about people. Administrators see every row.
   */
  seenBy: 'members' | 'owner' | 'owner alone' | 'everybody'
  /** Whether it has a run's id or number, by which a shared stream may read it. */
  isOfRun?: true
  /** Whether the sample creates a row in it. */
  isFilled?: true
  /** Rows of a view per owner; default 1. */
  rowsEach?: number
  /** Columns in which the owners' rows differ, besides `username`, `owner`, `project` and `run_id`. */
  cells?(owner: RowOwner): Record<string, unknown>
}

/** A changing request for the audit test, if the samples' path and smallest body are not enough. */
export type Change = {
  body?(server: SampleServer): object | Promise<object>
  path?(server: SampleServer): Promise<string>
  /** It ends what other routes need, so these are called first. */
  comesLast?: true
  /** The reason why the route appends no event. */
  leavesNoEvent?: string
}

/** One thing of a slice, as the tests of authorization, row-level security and the audit create and name it. */
export type Sample = {
  /** The slice's folder in `command-api/`, `query-api/` or `projector/`. */
  slice: string
  /** Creates one through the API and returns its names. */
  make?(making: Making): Promise<Partial<Made>>
  /** Unused names of the same shape; `whose` makes several sets different. */
  missing?(own: Fixture, whose: string): Partial<Fixture>
  /** Nouns whose names must be hidden from everybody but their people. */
  hidden?: readonly string[]
  /**
   * For each GET route for persons that names nothing: the owner of its response. `with names`: it shows what people publish under
   * their names.
   */
  lists?: Record<string, 'its people' | 'the caller' | 'everybody' | 'everybody, with names'>
  /** Other queries of the lists that belong to their people, for instance other orders. */
  moreLists?: readonly string[]
  tables?: Record<string, TableSample>
  /** By kind (`command-api/kind.ts`): SQL of `id, name, within_id, owner, project, visibility, deleted` from the slice's own tables or events. */
  things?: Readonly<Record<string, string>>
  /** SQL of the uses by its things: `used_kind, used_id, user_kind, user_id, used_as`, from its own tables. */
  uses?: readonly string[]
  /** SQL that makes this owner's rows visible to everybody. */
  publish?(owner: RowOwner): string
  /** By method and path. */
  changes?: Record<string, Change>
  /** Addresses of its pages in the console that name something, and further states of pages, for the test of accessibility. */
  pages?(runs: readonly [ShownRun, ShownRun]): readonly string[]
}

/** A run with some reports of every kind. */
export type ShownRun = { short_id: string }

/** The kinds of credentials; each is sent to every route. */
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

/** A whole server in the test's process, and people who each have one of everything. */
export type SampleServer = {
  /** The test's own connections to the server's database. */
  pool: Pool
  /** The folder with all files of the server. */
  dataDir: string
  /** The route table that the server uses. */
  routes: readonly Route[]
  send: Send
  people: Record<'admin' | 'operator' | 'another', SignedIn>
  /** `missing` and `free` name things that do not exist. */
  fixtures: Record<'admin' | 'operator' | 'another' | 'missing' | 'free', Fixture>
  /** Headers with a credential of this kind. */
  credentials: Record<Kind, Record<string, string>>
  /** The same with a new session, for calls that end it. */
  ownSession(kind: Kind): Promise<Record<string, string>>
  /** Signs in a new person without any things. */
  newPerson(username: string): Promise<SignedIn>
}
