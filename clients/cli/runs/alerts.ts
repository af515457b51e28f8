import type { Command } from 'commander'
import type { Alert } from '../../../schemas/alerts.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type AlertsOptions = CommonOptions & { open?: boolean }

export const describeAlerts = (command: Command): Command =>
  command
    .argument('<run>', 'run id or short id')
    .description('what Forge noticed about a run, and what its code raised; the newest first')
    .option('-o, --open', 'those that are still so')

export async function alerts(
  world: World,
  id: string,
  { open, ...options }: AlertsOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson, nowMs } = await openSignedIn(world, options)
  const state = open ? 'open' : undefined
  const rows = await everyPage<Alert>(api, `/api/runs/${segment(id)}/alerts`, { state })
  if (isJson) terminal.data(toJson(rows))
  else if (rows.length === 0) terminal.note(open ? 'No alert is open' : 'There was no alert')
  else {
    const paintTitle = (text: string) => terminal.paint('dim', text)
    const style = { width: terminal.columns(), paintTitle }
    for (const line of table(alertColumns(nowMs()), rows, style)) terminal.data(line)
  }
  return exitCode.ok
}

export const alertColumns = (nowMs: number): Column<Alert>[] => [
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'LEVEL', cell: ({ level }) => level },
  { title: 'ALERT', cell: ({ title }) => title, shrinks: true },
  { title: 'RULE', cell: ({ rule }) => rule, drops: true },
  { title: 'AGO', cell: ({ fired_at }) => duration((nowMs - Date.parse(fired_at)) / 1000) },
  { title: 'LASTED', cell: lasted, drops: true },
]

const lasted = ({ fired_at, resolved_at }: Alert): string =>
  resolved_at === null ? '' : duration((Date.parse(resolved_at) - Date.parse(fired_at)) / 1000)
