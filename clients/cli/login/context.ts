import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import type { Flags, World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import type { Column } from '../terminal/table.ts'
import { showTable } from '../terminal/table.ts'
import { contextNamed, contextsPath, readContexts, updateContexts } from './contexts.ts'
import { endOfSignIn } from './token.ts'

type Options = Flags<'json'>
type Row = {
  name: string
  host: string
  username: string
  current: boolean
  /** When the person must sign in again; null when signed out. */
  expires_at: string | null
}

export const describeContextList = describe({
  text: 'where you are signed in, as whom and until when',
})

export async function contextList({ terminal, env }: World, options: Options): Promise<ExitCode> {
  const { current, contexts } = await readContexts(contextsPath(env))
  const rows = Object.entries(contexts).map(
    ([name, { host, username, token, refresh }]): Row => ({
      name,
      host,
      username,
      current: name === current,
      expires_at: endOfSignIn({ token, refresh }),
    }),
  )
  if (options.json) terminal.data(toJson(rows))
  else if (rows.length === 0)
    terminal.note('You are not signed in anywhere; start with forge login')
  else showTable(terminal, columns, rows)
  return exitCode.ok
}

const columns: readonly Column<Row>[] = [
  { title: '', cell: row => (row.current ? '*' : '') },
  { title: 'NAME', cell: row => row.name, shrinks: true },
  { title: 'HOST', cell: row => row.host, shrinks: true },
  { title: 'USER', cell: row => row.username },
  { title: 'SIGNED IN UNTIL', cell: row => row.expires_at ?? 'signed out', drops: true },
]

export const describeContextUse = describe({
  text: 'make this the server that commands go to',
  operands: { '<name>': '' },
})

export async function contextUse(
  { terminal, env }: World,
  name: string,
  options: Options,
): Promise<ExitCode> {
  const stored = await updateContexts(contextsPath(env), known => {
    contextNamed(name, known)
    return { ...known, current: name }
  })
  const { host, username } = contextNamed(name, stored)
  if (options.json) terminal.data(toJson({ name, host, username, current: true }))
  else terminal.note(`Commands go to ${host} as ${username}`)
  if (env.FORGE_HOST) terminal.note('FORGE_HOST is set and overrides it')
  return exitCode.ok
}

export const describeContextRemove = describe({
  text: 'forget a server and its token (forge logout ends it)',
  operands: { '<name>': '' },
})

export async function contextRemove(
  { terminal, env }: World,
  name: string,
  options: Options,
): Promise<ExitCode> {
  const path = contextsPath(env)
  const removed = contextNamed(name, await readContexts(path))
  const { host, username } = removed
  await updateContexts(path, ({ current, contexts: { [name]: _, ...others } }) => ({
    current: current === name ? null : current,
    contexts: others,
  }))
  if (options.json) terminal.data(toJson({ name, host, username, removed: true }))
  else terminal.note(`Forgot ${name} here`)
  const expires_at = endOfSignIn(removed)
  if (expires_at !== null) terminal.note(`Its session at ${host} lasts until ${expires_at}`)
  return exitCode.ok
}
