import type { Api, Query } from '../api/client.ts'
import { everyPage, firstRows, type Part } from '../api/every-page.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import { type ExitCode, exitCode, usageFailure } from './failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from './session.ts'

/** How the rows of a list are shown. */
export type Shown<Row> = {
  columns: readonly Column<Row>[]
  /** Printed instead of a table without rows. */
  none?: string
  /** `--json` prints each row on its own line; otherwise it prints one array. */
  isJsonByLine?: boolean
}

/** Prints rows as a table, or as JSON. */
export function showRows<Row>(
  { terminal, isJson }: Session,
  rows: readonly Row[],
  { columns, none, isJsonByLine = false }: Shown<Row>,
): void {
  if (isJson) for (const value of isJsonByLine ? rows : [rows]) terminal.data(toJson(value))
  else if (rows.length === 0 && none !== undefined) terminal.note(none)
  else showTable(terminal, columns, rows)
}

/** The value of `--limit`. */
export function countOf(text: string | number): number {
  if (!/^[1-9]\d{0,6}$/.test(String(text)))
    throw usageFailure(`--limit ${text}: give a whole number from 1 to 9999999`)
  return Number(text)
}

/** Says that a list is not whole, and how to get the rest. */
export function sayMore({ terminal }: Session, shown: number, rest = '--limit N shows more'): void {
  const text = `The first ${shown.toLocaleString('en')} of more; ${rest}`
  terminal.note(terminal.paintNote('dim', text))
}

type List<Row, Options> = {
  /** Where the rows are; the operands of the command follow the session. */
  path: string | ((api: Api, ...operands: string[]) => string | Promise<string>)
  /** Without a `limit`, all rows are read; an undefined one is 50, as on the server. */
  filters?: (options: Options, session: Session, ...operands: string[]) => Query
  /** Whether the server returns pages, as of nearly all lists. */
  isPaged?: boolean
  shown: Shown<Row> | ((options: Options, session: Session, ...operands: string[]) => Shown<Row>)
}

/** A command that lists what the server returns at a path. */
export const list =
  <Row, Options extends CommonOptions = CommonOptions>({
    path,
    filters = () => ({}),
    isPaged = true,
    shown,
  }: List<Row, Options>) =>
  async (world: World, ...given: unknown[]): Promise<ExitCode> => {
    const { operands, options } = givenTo<Options>(given)
    const session = await openSignedIn(world, options)
    const { api } = session
    const query = filters(options, session, ...operands)
    const at = typeof path === 'string' ? path : await path(api, ...operands)
    const { rows, isMore } = await (isPaged
      ? read<Row>(api, at, query)
      : api.get<Row[]>(at, query).then(rows => ({ rows, isMore: false })))
    const how = typeof shown === 'function' ? shown(options, session, ...operands) : shown
    showRows(session, rows, how)
    if (isMore) sayMore(session, rows.length)
    return exitCode.ok
  }

async function read<Row>(api: Api, path: string, query: Query): Promise<Part<Row>> {
  if (!('limit' in query)) return { rows: await everyPage<Row>(api, path, query), isMore: false }
  const { limit, offset, ...rest } = query
  return firstRows(api, path, {
    ...rest,
    limit: countOf(String(limit ?? 50)),
    offset: Number(offset ?? 0),
  })
}

type Found<Item, Row> = {
  find: (api: Api, named: string) => Promise<Item>
  /** Lines above the list. */
  lines: (item: Item) => readonly string[]
  /** The list that belongs to it; `--json` prints it as the field `name`. */
  below: { name: string; path: (item: Item) => string; columns: readonly Column<Row>[] }
}

/** A command that shows one thing with a list that belongs to it. */
export const record =
  <Item extends object, Row>({ find, lines, below }: Found<Item, Row>) =>
  async (world: World, ...given: unknown[]): Promise<ExitCode> => {
    const { operands, options } = givenTo<CommonOptions>(given)
    const { api, terminal, isJson } = await openSignedIn(world, options)
    const item = await find(api, operands[0] ?? '')
    const rows = await everyPage<Row>(api, below.path(item))
    if (isJson) terminal.data(toJson({ ...item, [below.name]: rows }))
    else {
      for (const line of [...lines(item), '']) terminal.data(line)
      showTable(terminal, below.columns, rows)
    }
    return exitCode.ok
  }

/** Splits the arguments from commander: the operands, then the options. */
export const givenTo = <Options>(given: readonly unknown[]) => ({
  operands: given.slice(0, -1) as string[],
  options: given.at(-1) as Options,
})
