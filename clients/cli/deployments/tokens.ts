import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { printSecret } from '../program/print-secret.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { findDeployment, oneDeployment, pathOfDeployment, pathOfNamed } from './find.ts'

type Token = {
  token_id: string
  name: string
  note: string
  capture: boolean
  created_by: string
  created_at: string
  revoked_at: string | null
}

export const describeTokenNew = describe({
  text: 'create a token for a deployment; it is shown only once',
  operands: { '<deployment>': 'name or id', '<name>': 'who or what uses it' },
  options: {
    '--note <text>': 'its purpose',
    '--capture': 'keep its requests and responses for a while, for reflows; tell its users',
  },
})

export async function tokenNew(
  world: World,
  named: string,
  name: string,
  { note = '', capture = false, ...options }: CommonOptions & Texts<'note'> & Flags<'capture'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const { deployment_id, base_url } = await findDeployment(api, named)
  const path = `${pathOfDeployment(deployment_id)}/tokens`
  const made = await api.post<{ token: string | null }>(
    path,
    { name, note, capture },
    { creates: true },
  )
  const text = made.token ?? 'the token is shown only once, and was already shown'
  await printSecret(
    session,
    [isJson ? toJson(made) : text],
    `The token ${name} was created, but it could not be printed: forge deploy token revoke ${named} ${name}, then create another`,
  )
  if (isJson) return exitCode.ok
  terminal.note(
    `for ${base_url}; it is shown only once and does not expire: revoke it when it is no longer needed`,
  )
  return exitCode.ok
}

export const describeTokenRevoke = describe({
  text: 'revoke a token: it is invalid from now on, and its open streams end',
  operands: { '<deployment>': 'name or id', '<token>': 'name or id' },
})

export async function tokenRevoke(
  world: World,
  named: string,
  wanted: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = await pathOfNamed(api, named, '/tokens')
  const all = await everyPage<Token>(api, path)
  const live = all.filter(({ revoked_at }) => revoked_at === null)
  const token = live.find(({ token_id, name }) => token_id === wanted || name === wanted)
  if (!token)
    throw usageFailure(
      `No such active token: ${wanted}`,
      `there are ${live.map(({ name }) => name).join(', ') || 'none'}`,
    )
  const done = await api.delete<{ revoked_at: string }>(`${path}/${segment(token.token_id)}`)
  terminal.data(isJson ? toJson(done) : `${token.name} was revoked at ${done.revoked_at}`)
  return exitCode.ok
}

export const describeTokenList = describe({
  text: 'the tokens of a deployment',
  operands: oneDeployment,
})

export const tokenList = list<Token>({
  path: (api, named) => pathOfNamed(api, named, '/tokens'),
  shown: (_options, _session, named) => ({
    columns: [
      { title: 'NAME', cell: row => row.name, shrinks: true },
      { title: 'CREATED', cell: row => row.created_at },
      { title: 'BY', cell: row => row.created_by, shrinks: true },
      { title: 'CAPTURE', cell: row => (row.capture ? 'yes' : 'no'), drops: true },
      { title: 'REVOKED', cell: row => row.revoked_at ?? '-' },
      { title: 'NOTE', cell: row => row.note, shrinks: true, drops: true },
      { title: 'ID', cell: row => row.token_id, drops: true },
    ],
    none: `No tokens yet: forge deploy token new ${named} NAME`,
    isJsonByLine: true,
  }),
})
