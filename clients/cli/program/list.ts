import type { Api, Query } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import { type ExitCode, exitCode } from './failure.ts'
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

type List<Row, Options> = {
  /** Where the rows are; the operands of the command follow the session. */
  path: string | ((api: Api, ...operands: string[]) => string | Promise<string>)
  /** With a `limit`, even an undefined one, one page is read; otherwise all of them. */
  filters?: (options: Options, session: Session) => Query
  shown: Shown<Row> | ((options: Options, session: Session, ...operands: string[]) => Shown<Row>)
}

/** A command that lists what the server returns at a path. */
export const list =
  <Row, Options extends CommonOptions = CommonOptions>({
    path,
    filters = () => ({}),
    shown,
  }: List<Row, Options>) =>
  async (world: World, ...given: unknown[]): Promise<ExitCode> => {
    const { operands, options } = givenTo<Options>(given)
    const session = await openSignedIn(world, options)
    const { api } = session
    const query = filters(options, session)
    const at = typeof path === 'string' ? path : await path(api, ...operands)
    const rows = await ('limit' in query
      ? api.get<Row[]>(at, query)
      : everyPage<Row>(api, at, query))
    const how = typeof shown === 'function' ? shown(options, session, ...operands) : shown
    showRows(session, rows, how)
    return exitCode.ok
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
