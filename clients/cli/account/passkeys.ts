import type { Static } from 'typebox'
import type { passkey } from '../../../schemas/passkeys.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { request } from '../program/request.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { table } from '../terminal/table.ts'

type Passkey = Static<typeof passkey>

const path = '/api/auth/passkeys'

export const describePasskeyList = describe({
  text: 'your passkeys; a browser registers them, on the page /settings',
})

export async function passkeyList(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const known = await api.get<Passkey[]>(path)
  const columns = [
    { title: 'PASSKEY', cell: (one: Passkey) => one.passkey_id },
    { title: 'NAME', cell: (one: Passkey) => one.name, shrinks: true },
    { title: 'REGISTERED', cell: (one: Passkey) => one.created_at },
    { title: 'LAST USED', cell: (one: Passkey) => one.last_used_at ?? '-' },
  ]
  if (isJson) terminal.data(toJson(known))
  else if (known.length === 0) terminal.note(`No passkeys; register one at ${api.host}/settings`)
  else for (const line of table(columns, known, { width: terminal.columns() })) terminal.data(line)
  return exitCode.ok
}

export const describePasskeyRemove = describe({
  text: 'remove one of your passkeys',
  operands: { '<passkey>': 'its id, as forge account passkeys list shows it' },
})

export const passkeyRemove = request({
  send: ({ api }, _, id) => api.delete(`${path}/${segment(id)}`),
  note: () => 'Removed',
})
