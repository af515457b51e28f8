import { type Route, route } from '../../auth/route.ts'
import { type Profile, type ProfileEvent, profileAt } from '../../events/profiles.ts'
import { rateCard } from '../../events/rates.ts'
import { ratesChanged, ratesInput } from '../../schemas/billing.ts'
import { profile, profileInput, profilePath } from '../../schemas/profiles.ts'
import { parseTimestamp } from '../../schemas/timestamp.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { describeExecutor, type Hardware, isRepriced, setProfile } from './decide.ts'
import { saveRates, setRates } from './rates.ts'
import { saveProfile, saveRate } from './rows.ts'

export const profileRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/admin/profiles/{name}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Describe hardware jobs can ask for, or its price',
    params: profilePath,
    body: profileInput,
    response: profile,
    async handle(request) {
      const { params, body } = request
      const { name } = params
      const wanted = { name, ...body, cpus: body.cpus ?? null, memory_gb: body.memory_gb ?? null }
      await changeProfile(deps, request, name, current => setProfile(current, wanted))
      const { rows } = await deps.pool.query(`${selectProfiles} where name = $1`, [name])
      return rows[0]
    },
  }),
  route({
    method: 'PUT',
    path: '/api/billing/rates',
    credential: 'admin',
    tag: 'billing',
    summary:
      'Set the prices of GPU hours by series and of storage, from now or from a later time on',
    body: ratesInput,
    response: ratesChanged,
    refusals: ['invalid', 'conflict'],
    async handle(request) {
      const { gpu, storage_per_gb_month, effective_at } = request.body
      const from = effective_at == null ? null : new Date(parseTimestamp(effective_at))
      const wanted = { gpu, storage_per_gb_month, effective_at: from }
      const { events } = await commit(deps, request, rateCard, {
        decide: (card, now) => setRates(card, wanted, now),
        alongside: saveRates,
      })
      const [set] = events
      return { version: set?.data.version, effective_at: set?.data.effective_at }
    },
  }),
]

const selectProfiles = `select name, series, gpus_per_node, max_nodes, cpus, memory_gb, executor, container,
                               available, price_per_gpu_hour::text from write.profile`

export const changeProfile = (
  deps: CommitDeps,
  asked: Asked,
  name: string,
  decide: (profile: Profile) => ProfileEvent[],
) =>
  commit(deps, asked, profileAt(name), {
    decide,
    alongside: async (tx, { before, events, now }) => {
      for (const { data } of events) {
        await saveProfile(tx, data)
        if (before !== null && isRepriced(before, data)) await saveRate(tx, data, now)
      }
    },
  })

/** Records the hardware of an executor as the profile of its name; keeps the price set by an admin. */
export async function describeExecutorProfile(deps: CommitDeps, hardware: Hardware): Promise<void> {
  const { executor } = hardware
  const start = {
    actor: { type: 'system', id: 'executor', via: executor },
    requestId: `executor-${executor}`,
  } as const
  await changeProfile(deps, start, executor, current => describeExecutor(current, hardware))
}
