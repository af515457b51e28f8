import { type Deployment, deploymentAt } from '../../../events/deployments.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { allowAnswer } from '../../../schemas/plugins.ts'
import { checker } from '../../../schemas/validate.ts'
import type { EventStore } from '../../commit/event-store.ts'
import { loadState } from '../../commit/snapshots.ts'
import type { PluginCalls } from '../../rules/plugin-calls.ts'

type Needed = { store: EventStore; plugins: PluginCalls }

/** `by`: null if nobody asked, because the revision is promoted as soon as it is ready. */
type Promotion = {
  deployment_id: string
  revision_id: string
  by: string | null
  reason: string
  /** Back to the previous revision nobody has to ask. */
  isRollback?: boolean
}

export type PluginRefusal = { plugin: string; text: string }

const hook = 'deployment.promote'
const expected = {
  check: checker(allowAnswer, 'body'),
  refuses: ({ allow }: { allow: boolean }) => !allow,
}

/** The plugins that refuse the promotion. They are asked outside any transaction. */
export async function pluginsAgainst(
  { store, plugins }: Needed,
  { deployment_id, revision_id, by, reason, isRollback = false }: Promotion,
): Promise<PluginRefusal[]> {
  const asked = await plugins.serving(hook)
  if (asked.length === 0) return []
  const deployment = await read(store, deployment_id)
  const revision = deployment?.revisions[revision_id]
  // What nobody can promote, or nobody asked for, is refused or left alone without them.
  if (!deployment || !revision || (by === null && !revision.auto_promote)) return []
  if (isRollback && deployment.previous_revision_id === revision_id) return []
  const { project, owner, promoted_revision_id } = deployment
  const data = {
    ...{
      deployment_id,
      revision_id,
      name: deployment.settings.name,
      project,
      owner,
      promoted_revision_id,
      reason,
      by,
    },
    ...{ number: revision.number, source: revision.source, is_automatic: by === null },
  }
  const answers = await Promise.all(
    asked.map(async plugin => {
      const called = await plugins.call(plugin, { hook, subject: revision_id, data }, expected)
      if (called.ok)
        return called.answer.allow ? null : refusal(plugin.name, called.answer.reason ?? null)
      return plugin.mode === 'fail_open'
        ? null
        : refusal(plugin.name, `it gave no usable answer: ${called.error}`)
    }),
  )
  return answers.flatMap(answer => answer ?? [])
}

const refusal = (plugin: string, reason: string | null): PluginRefusal => ({
  plugin,
  text: `The plugin ${plugin} refuses the promotion${reason === null ? '' : `: ${reason}`}`,
})

/** Throws with the first refusal. */
export async function refuseByPlugins(deps: Needed, promotion: Promotion): Promise<void> {
  const refusals = await pluginsAgainst(deps, promotion)
  const [first] = refusals
  if (!first) return
  throw new Refusal('conflict', refusals.map(({ text }) => text).join('. '), {
    fields: { gate: `plugin:${first.plugin}` },
    code: 'plugin.refused',
    data: { plugins: refusals.map(({ plugin }) => plugin) },
  })
}

const read = (store: EventStore, deployment_id: string): Promise<Deployment> =>
  store.transaction(async tx => (await loadState(store, tx, deploymentAt(deployment_id))).state)
