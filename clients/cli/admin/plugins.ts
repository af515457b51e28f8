import type {
  PluginCall,
  PluginInput,
  PluginRow,
  PluginSaved,
  PluginTested,
} from '../../../schemas/plugins.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags, Texts } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'

const path = '/api/admin/plugins'
const pathOf = (name = '') => `${path}/${segment(name)}`
const onePlugin = { '<name>': 'as forge admin plugin ls shows it' }

export const describePluginList = describe({ text: 'plugins, and how their last calls went' })

export const pluginList = list<PluginRow>({
  path,
  isPaged: false,
  shown: {
    columns: [
      { title: 'PLUGIN', cell: row => row.name },
      { title: 'STATE', cell: row => (row.enabled ? 'on' : 'off') },
      { title: 'MODE', cell: row => row.mode },
      { title: 'HOOKS', cell: row => row.hooks.join(' '), shrinks: true },
      { title: 'CALLS 24H', cell: row => String(row.calls_24h), align: 'right' },
      { title: 'WAITING', cell: row => String(row.waiting), align: 'right' },
      { title: 'DEAD', cell: row => String(row.dead), align: 'right' },
      { title: 'URL', cell: row => row.url, shrinks: true, drops: true },
      { title: 'LAST ERROR', cell: row => row.last_error ?? '', shrinks: true },
    ],
    none: 'No plugins. Register one: forge admin plugin set NAME --url URL --hook HOOK',
  },
})

type SetOptions = CommonOptions &
  Texts<'url' | 'mode' | 'timeoutMs'> &
  Flags<'on' | 'off' | 'rotateSecret'> & { hook?: PluginInput['hooks'] }

export const describePluginSet = describe({
  text: 'register a plugin, or change it; options left out stay unchanged',
  operands: { '<name>': 'lower-case letters, digits and . _ -' },
  options: {
    '--url <url>': 'the https address that is called',
    '--hook <hook...>':
      'when: admission.mutate, admission.validate, job.terminal, artifact.registered, deployment.promote, diagnosis.analyze',
    '--mode <mode>':
      'fail_open (the default) or fail_closed: without a usable answer, go on or refuse',
    '--timeout-ms <ms>': 'from 100 to 3000, the default',
    '--on': 'switch it on',
    '--off': 'switch it off, without forgetting it',
    '--rotate-secret': 'give it a new secret; the former one signs, too, for 24 hours',
  },
  after: `
The secret that signs the calls is printed once, on standard output.

Examples:
  forge admin plugin set policy --url https://policy.example.com/forge --hook admission.validate --mode fail_closed`,
})

export const pluginSet = request<PluginSaved, SetOptions>({
  async send({ api }, options, name) {
    if (options.on && options.off) throw usageFailure('--on and --off exclude each other')
    const known = await api.find<PluginRow>(pathOf(name))
    const { url = known?.url, hook = known?.hooks, mode = known?.mode ?? 'fail_open' } = options
    if (url === undefined || hook === undefined)
      throw usageFailure(`A new plugin needs --url and --hook`)
    const isOn = options.on || (known?.enabled ?? true)
    return api.put<PluginSaved>(pathOf(name), {
      ...{ url, hooks: hook, mode, enabled: isOn && !options.off },
      timeout_ms: Number(options.timeoutMs ?? known?.timeout_ms ?? 3000),
      rotate_secret: options.rotateSecret ?? false,
    })
  },
  data: ({ secret }) => secret ?? [],
  note: ({ name, secret }) => [
    `Set ${name}`,
    ...(secret === null ? [] : ['Keep the secret: it is shown only once']),
  ],
})

export const describePluginRemove = describe({
  text: 'remove a plugin, with what it was still to be told',
  operands: onePlugin,
})

export const pluginRemove = request({
  send: ({ api }, _, name) => api.delete(pathOf(name)),
  note: (_, __, name) => `Removed ${name}`,
})

export const describePluginTest = describe({
  text: 'call a plugin with an example, and print its answer',
  operands: onePlugin,
  options: { '--hook <hook>': 'the first of its hooks if left out' },
})

export const pluginTest = request<PluginTested, CommonOptions & Texts<'hook'>>({
  send: ({ api }, { hook }, name) =>
    api.post<PluginTested>(`${pathOf(name)}/test`, hook === undefined ? {} : { hook }),
  data: ({ answer }) => toJson(answer),
  note: ({ hook, ok, ms, error }) =>
    ok ? `${hook}: answered in ${ms} ms` : `${hook}: failed after ${ms} ms: ${error}`,
})

export const describePluginCalls = describe({
  text: 'the last calls of a plugin, the newest first',
  operands: onePlugin,
  options: { '--limit <n>': 'at most this many' },
})

export const pluginCalls = list<PluginCall, CommonOptions & Texts<'limit'>>({
  path: (_, name) => `${pathOf(name)}/calls`,
  filters: ({ limit }) => ({ limit }),
  isPaged: false,
  shown: {
    columns: [
      { title: 'AT', cell: row => row.at },
      { title: 'HOOK', cell: row => row.hook },
      { title: 'OUTCOME', cell: row => row.outcome },
      { title: 'STATUS', cell: row => String(row.status ?? '-'), align: 'right' },
      { title: 'MS', cell: row => String(row.ms), align: 'right' },
      { title: 'ABOUT', cell: row => row.subject, shrinks: true },
      { title: 'ERROR', cell: row => row.error ?? '', shrinks: true },
    ],
    none: 'It was not called yet.',
  },
})
