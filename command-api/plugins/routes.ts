import type { Pool } from 'pg'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { pluginAt } from '../../events/plugins.ts'
import { newMessageSecret } from '../../platform/http/signed-messages.ts'
import type { PluginHook } from '../../schemas/plugin-words.ts'
import {
  allowAnswer,
  analyzeAnswer,
  mutateAnswer,
  type PluginInput,
  type PluginRow,
  pluginCall,
  pluginCallsQuery,
  pluginInput,
  pluginPath,
  pluginRemoved,
  pluginRow,
  pluginSaved,
  pluginTest,
  pluginTested,
} from '../../schemas/plugins.ts'
import { checker, Invalid } from '../../schemas/validate.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { type Expected, type PluginCalls, sealedForPlugin } from '../rules/plugin-calls.ts'
import { noPlugin, removePlugin, setPlugin } from './decide.ts'
import { listCalls, listPlugins } from './list.ts'
import { savePlugin } from './rows.ts'
import { sampleOf } from './samples.ts'

const common = {
  path: '/api/admin/plugins/{name}',
  credential: 'admin',
  tag: 'admin',
  params: pluginPath,
} as const

export const pluginRoutes = (deps: Deps): Route[] => [...readRoutes(deps), ...changeRoutes(deps)]

const readRoutes = (deps: Deps): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/plugins',
    credential: 'admin',
    tag: 'admin',
    summary: 'Plugins by name, with how their last calls went',
    response: Type.Array(pluginRow),
    handle: () => listPlugins(deps.pool),
  }),
  route({
    ...common,
    method: 'GET',
    summary: 'Read a plugin; no response contains its secret again',
    response: pluginRow,
    refusals: ['not_found'],
    handle: ({ params: { name } }) => read(deps.pool, name),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/api/admin/plugins/{name}/calls',
    summary: 'The last calls of a plugin, the newest first',
    query: pluginCallsQuery,
    response: Type.Array(pluginCall),
    refusals: ['not_found'],
    async handle({ params: { name }, query: { limit = 50 } }) {
      await read(deps.pool, name)
      return listCalls(deps.pool, name, limit)
    },
  }),
]

const changeRoutes = (deps: Deps): Route[] => [
  route({
    ...common,
    method: 'PUT',
    recentSignIn: true,
    summary: 'Register a plugin, or change it; its secret is shown once, when it is new',
    body: pluginInput,
    response: pluginSaved,
    refusals: ['conflict'],
    async handle(request) {
      const { params, body, caller } = request
      refuseBadUrl(deps.plugins, body)
      const secret = newMessageSecret()
      const { rotate_secret, ...wanted } = body
      let sealed: string | null = null
      await commit(deps, request, pluginAt(params.name), {
        locks: ['plugins'],
        decide(plugin) {
          const isNew = plugin === null || rotate_secret
          const plugin_id = plugin?.plugin_id ?? deps.newId('plg')
          sealed = isNew ? deps.sealing.seal(secret, sealedForPlugin(plugin_id)) : null
          const secret_prefix = isNew ? secret.slice(0, 8) : plugin.secret_prefix
          return setPlugin(plugin, { plugin_id, ...params, ...wanted, secret_prefix })
        },
        alongside: (tx, decided) => savePlugin(tx, decided, { sealed, by: caller.username }),
      })
      return { ...(await read(deps.pool, params.name)), secret: sealed === null ? null : secret }
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    recentSignIn: true,
    summary: 'Remove a plugin, with what it was still to be told',
    response: pluginRemoved,
    refusals: ['not_found'],
    async handle(request) {
      const { name } = request.params
      await commit(deps, request, pluginAt(name), {
        locks: ['plugins'],
        decide: plugin => removePlugin(plugin, name),
        alongside: (tx, decided) =>
          savePlugin(tx, decided, { sealed: null, by: request.caller.username }),
      })
      return { name, removed: true }
    },
  }),
  testRoute(deps),
]

const testRoute = (deps: Deps): Route =>
  route({
    ...common,
    method: 'POST',
    path: '/api/admin/plugins/{name}/test',
    summary: 'Call a plugin with an example, and show its answer',
    body: pluginTest,
    bodyMayBeAbsent: true,
    response: pluginTested,
    refusals: ['not_found'],
    async handle({ params: { name }, body }) {
      const plugin = await deps.plugins.find(name)
      if (plugin === null) throw noPlugin(name)
      const hook = body?.hook ?? plugin.hooks[0] ?? 'admission.validate'
      const call = { hook, subject: 'a test', data: sampleOf(hook), isInsisting: true }
      const called = await deps.plugins.call(plugin, call, expected[hook])
      const { ok, ms, status } = called
      return {
        ...{ hook, ok, ms, status },
        error: called.ok ? null : called.error,
        answer: called.ok ? called.answer : null,
      }
    },
  })

const expected: Readonly<Record<PluginHook, Expected<unknown> | null>> = {
  'admission.mutate': { check: checker(mutateAnswer, 'body') },
  'admission.validate': { check: checker(allowAnswer, 'body') },
  'job.terminal': null,
  'artifact.registered': null,
  'deployment.promote': { check: checker(allowAnswer, 'body') },
  'diagnosis.analyze': { check: checker(analyzeAnswer, 'body') },
}

/** Names are resolved, and their addresses checked, at each call. */
function refuseBadUrl(plugins: PluginCalls, { url }: PluginInput): void {
  const parsed = URL.parse(url)
  const fault = parsed === null ? 'not an address' : plugins.faultOf(parsed)
  if (fault === null) return
  const hint = 'an https address is expected, such as https://plugin.example.com/forge'
  throw new Invalid([
    { loc: ['body', 'url'], msg: `Value error, ${fault}; ${hint}`, type: 'value_error' },
  ])
}

async function read(pool: Pool, name: string): Promise<PluginRow> {
  const [row] = await listPlugins(pool, name)
  if (!row) throw noPlugin(name)
  return row
}
