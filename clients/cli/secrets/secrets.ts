import type { SecretRow } from '../../../schemas/secrets.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import type { Process } from '../program/process.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags } from '../program/session.ts'
import { ask, textOfStdin } from '../terminal/ask.ts'

const path = '/api/secrets'
const pathOf = (name = '') => `${path}/${segment(name)}`

export const describeSecretList = describe({
  text: 'your secrets by name, and the unfinished jobs that need them; no command shows a value',
})

export const secretList = list<SecretRow>({
  path,
  shown: {
    columns: [
      { title: 'SECRET', cell: row => row.name },
      { title: 'SET', cell: row => row.set_at },
      {
        title: 'NEEDED BY',
        cell: row => row.needed_by.map(job => job.short_id).join(' ') || '-',
        shrinks: true,
      },
    ],
    none: 'No secrets. Set one: forge secret set HUB_TOKEN',
  },
})

export const describeSecretSet = describe({
  text: 'set a secret, which your jobs that name it in spec.secrets receive as an environment variable',
  operands: { '<name>': 'the name of the variable, e.g. HUB_TOKEN' },
  options: {
    '--value-stdin': 'read the value from standard input, without the line break at its end',
  },
  after: `
The value is no argument, because other people of this machine can read those.

Examples:
  forge secret set HUB_TOKEN
  cat key.pem | forge secret set SIGNING_KEY --value-stdin`,
})

type SetOptions = CommonOptions & Flags<'valueStdin'>
type Set = { name: string; set_at: string; created: boolean }

export const secretSet = request<Set, SetOptions>({
  send: async ({ api, process }, { valueStdin }, name) => {
    const value = valueStdin ? await readValue(process) : await askForValue(process, name)
    return api.put<Set>(pathOf(name), { value })
  },
  note: ({ name, created }) =>
    created ? `Set ${name}` : `Replaced ${name}; running attempts keep the former value`,
})

async function readValue(process: Process): Promise<string> {
  const value = (await textOfStdin(process)).replace(/\r?\n$/, '')
  if (value === '') throw usageFailure('Standard input is empty')
  return value
}

async function askForValue(process: Process, name = ''): Promise<string> {
  const value = await ask(process, `Value of ${name}: `, '--value-stdin', { isHidden: true })
  if (value === '') throw usageFailure('The value is empty; nothing was changed')
  return value
}

export const describeSecretRemove = describe({
  text: 'remove a secret; jobs that need it fail at their next attempt',
  operands: { '<name>': 'as forge secret ls shows it' },
})

export const secretRemove = request({
  send: ({ api }, _, name) => api.delete(pathOf(name)),
  note: (_, __, name) => `Removed ${name}`,
})
