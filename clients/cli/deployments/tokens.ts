import type { Command } from 'commander'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'
import { findDeployment, pathOf } from './find.ts'

type Token = {
  token_id: string
  name: string
  note: string
  created_by: string
  created_at: string
  revoked_at: string | null
}

export const describeTokenNew = (command: Command): Command =>
  command
    .argument('<deployment>', 'name or id')
    .argument('<name>', 'who or what uses it')
    .description('create a token for a deployment; it is shown this once')
    .option('--note <text>', 'what it is for')

export async function tokenNew(
  world: World,
  named: string,
  name: string,
  { note = '', ...options }: CommonOptions & { note?: string },
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id, base_url } = await findDeployment(api, named)
  const path = `${pathOf(deployment_id)}/tokens`
  const made = await api.post<{ token: string | null }>(path, { name, note }, { creates: true })
  if (isJson) {
    terminal.data(toJson(made))
    return exitCode.ok
  }
  terminal.data(made.token ?? 'the token was shown before, and is shown once')
  terminal.note(
    `for ${base_url}; it is shown this once and has no end: revoke it when it is not needed`,
  )
  return exitCode.ok
}

export const describeTokenRevoke = (command: Command): Command =>
  command
    .argument('<deployment>', 'name or id')
    .argument('<token>', 'name or id')
    .description('revoke a token: it opens nothing from now on, and its open streams end')

export async function tokenRevoke(
  world: World,
  named: string,
  wanted: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const path = `${pathOf(deployment_id)}/tokens`
  const all = await everyPage<Token>(api, path)
  const live = all.filter(({ revoked_at }) => revoked_at === null)
  const token = live.find(({ token_id, name }) => token_id === wanted || name === wanted)
  if (!token)
    throw usageFailure(
      `No such token that is not revoked: ${wanted}`,
      `there are ${live.map(({ name }) => name).join(', ') || 'none'}`,
    )
  const done = await api.delete<{ revoked_at: string }>(`${path}/${segment(token.token_id)}`)
  terminal.data(isJson ? toJson(done) : `${token.name} was revoked at ${done.revoked_at}`)
  return exitCode.ok
}

export const describeTokenList = (command: Command): Command =>
  command.argument('<deployment>', 'name or id').description('the tokens of a deployment')

export async function tokenList(
  world: World,
  named: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const rows = await everyPage<Token>(api, `${pathOf(deployment_id)}/tokens`)
  if (isJson) for (const row of rows) terminal.data(toJson(row))
  else if (rows.length === 0) terminal.note(`No tokens yet: forge deploy token new ${named} NAME`)
  else for (const line of table(columns, rows, { width: terminal.columns() })) terminal.data(line)
  return exitCode.ok
}

const columns: Column<Token>[] = [
  { title: 'NAME', cell: row => row.name, shrinks: true },
  { title: 'CREATED', cell: row => row.created_at },
  { title: 'BY', cell: row => row.created_by, shrinks: true },
  { title: 'REVOKED', cell: row => row.revoked_at ?? '-' },
  { title: 'NOTE', cell: row => row.note, shrinks: true, drops: true },
  { title: 'ID', cell: row => row.token_id, drops: true },
]
