import { isDeepStrictEqual } from 'node:util'
import type { Plugin, PluginEvent, PluginSet } from '../../events/plugins.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Idempotent: the same description with the same secret appends no event. */
export const setPlugin = (plugin: Plugin, wanted: PluginSet): PluginEvent[] =>
  isDeepStrictEqual(plugin, wanted) ? [] : [{ type: 'plugin.set', data: wanted }]

export function removePlugin(plugin: Plugin, name: string): PluginEvent[] {
  if (plugin === null) throw noPlugin(name)
  return [{ type: 'plugin.removed', data: { plugin_id: plugin.plugin_id, name } }]
}

export const noPlugin = (name: string) => new Refusal('not_found', `No such plugin: ${name}`)
