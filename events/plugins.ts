import { Type } from 'typebox'
import { pluginHooks, pluginModes } from '../schemas/plugin-words.ts'
import { oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** An administrator registered a plugin, or changed it. Its secret is in no event; `secret_prefix` identifies it. */
export const pluginSet = event(
  'plugin.set',
  Type.Object({
    plugin_id: Type.String(),
    name: Type.String(),
    url: Type.String(),
    hooks: Type.Array(oneOf(...pluginHooks)),
    mode: oneOf(...pluginModes),
    timeout_ms: Type.Integer({ minimum: 1 }),
    enabled: Type.Boolean(),
    secret_prefix: Type.String(),
  }),
  ({ name, url, hooks, mode, enabled }, who) =>
    `${who} set the plugin ${name} (${url}): ${hooks.join(', ')}, ${mode}${enabled ? '' : ', switched off'}`,
)

export const pluginRemoved = event(
  'plugin.removed',
  Type.Object({ plugin_id: Type.String(), name: Type.String() }),
  ({ name }, who) => `${who} removed the plugin ${name}`,
)

const events = [pluginSet, pluginRemoved] as const
export type PluginEvent = EventOf<(typeof events)[number]>
export type PluginSet = Extract<PluginEvent, { type: 'plugin.set' }>['data']

/** Null while it does not exist. */
export type Plugin = PluginSet | null

function evolve(_: Plugin, event: PluginEvent): Plugin {
  switch (event.type) {
    case 'plugin.set':
      return event.data
    case 'plugin.removed':
      return null
  }
}

export const plugins = aggregate('plugin', { events, initial: null, evolve })
export const pluginAt = (name: string) => plugins.at(name)
