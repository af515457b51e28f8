import type { Column } from '../terminal/table.ts'
import type { ExitCode } from './failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from './session.ts'

// Named things with versions, such as datasets and RL environments.

/** Options of a list, and its filters of the API. */
export const byOwnerAndName = {
  options: { '--owner <username>': 'only those of a person', '-q, --search <text>': 'by name' },
  filters: ({ owner, search: q }: { owner?: string; search?: string }) => ({ owner, q }),
}

type Version = {
  ref: string
  state: string
  used_by_count: number
  created_by: string
  created_at: string
}

/** A table of versions; `own`: the columns that only this kind has. */
export const columnsOfVersions = <V extends Version>(own: readonly Column<V>[]): Column<V>[] => [
  { title: 'VERSION', cell: row => row.ref },
  { title: 'STATE', cell: row => row.state },
  ...own,
  { title: 'RUNS', cell: row => String(row.used_by_count), align: 'right', drops: true },
  { title: 'BY', cell: row => row.created_by, shrinks: true, drops: true },
  { title: 'AT', cell: row => row.created_at, drops: true },
]

type Show = (session: Session, named: string) => Promise<ExitCode>

/** A command that shows a thing with its versions, or the version named by `OWNER/NAME@VERSION`. */
export const showWholeOrVersion =
  (showWhole: Show, showVersion: Show) =>
  async (world: World, named: string, options: CommonOptions): Promise<ExitCode> => {
    const session = await openSignedIn(world, options)
    return named.includes('@') ? showVersion(session, named) : showWhole(session, named)
  }
