import { type Reflow, reflowAt } from '../../events/reflows.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Work } from '../commit/commit.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { endFiring, failFiring } from './decide.ts'
import type { Owner, ReflowSources, VersionMaker } from './port.ts'
import { noteTaken } from './rows.ts'
import { scoresBy } from './scores.ts'
import { pagesOf } from './sources.ts'
import { kindOfRows, type Taken, Taking } from './take.ts'

type Payload = { reflow_id: string; firing: number; after: number; until: number }
type Open = NonNullable<Reflow>

const attempts = 8

/**
 * Makes the version of a firing. Everything but the outcome may be done again, and the outcome is recorded once: a killed process
 * leaves at most a file that no version names.
 */
export const reflowFiring = (sources: ReflowSources, maker: VersionMaker) =>
  reactor<Payload, Deps>({
    name: 'fire-reflows',
    repeat: 'ask first',
    dutiesOf({ type, data }) {
      if (type !== 'reflow.started') return []
      const { reflow_id, firing, after, until } = data
      return [{ payload: { reflow_id, firing, after, until } }]
    },
    deadlineMs: 3_600_000,
    renewMs: 10_000,
    atOnce: 1,
    attempts,
    async perform({ payload, attempt, duty_id }, deps, signal): Promise<Outcome> {
      const { reflow_id, firing } = payload
      const { state: reflow } = await loadState(deps.store, undefined, reflowAt(reflow_id))
      if (reflow?.open?.firing !== firing) return nothing
      try {
        return await fire({ deps, sources, maker, signal }, { reflow, payload, requestId: duty_id })
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof Refusal) && attempt < attempts) throw error
        if (!(error instanceof Refusal))
          deps.logger.error({ err: error, reflow_id }, 'a reflow could not be fired')
        // An open firing would refuse the next one.
        return [failed(payload, error)]
      }
    },
  })

function failed({ reflow_id, firing }: Payload, error: unknown): Change {
  const reason =
    error instanceof Refusal ? error.message : 'an internal fault; the log of the server has it'
  return decided(reflowAt(reflow_id), { decide: now => failFiring(now, { firing, reason }) })
}

type Firing = { reflow: Open; payload: Payload; requestId: string }
type On = { deps: Deps; sources: ReflowSources; maker: VersionMaker; signal: AbortSignal }

async function fire(on: On, { reflow, payload, requestId }: Firing): Promise<Outcome> {
  const { deps, maker } = on
  const { reflow_id, firing } = payload
  const owner = await ownerOf(deps, reflow)
  const { taken, taking, reached } = await takeAll(on, { reflow, payload, owner })
  const { counts } = taking
  const target = reflowAt(reflow_id)
  if (taken.length === 0)
    return [
      decided(target, {
        decide: now => endFiring(now, { firing, ref: null, created: false, counts, reached }),
      }),
    ]
  const rows = taken.map(({ row }) => row)
  const upload_id = await maker.store(deps, owner, { requestId, rows })
  const dataset = reflow.target_dataset
  const made = { dataset, upload_id, kind: kindOfRows(taken), parents: [], caller: owner }
  return [
    ...maker.locks(dataset).map(stream => ({ stream, make: async () => {} })),
    {
      stream: target.stream,
      async make(work) {
        const { state } = await loadState(deps.store, work.tx, target)
        if (state?.open?.firing !== firing) return
        const version = await pushed(maker, work, made)
        if (version instanceof Refusal) {
          const reason = version.message
          await work.decide(target, { decide: now => failFiring(now, { firing, reason }) })
          return
        }
        const { deployment_id } = reflow.source
        if (deployment_id !== null)
          await noteTaken(work.tx, { ref: version.ref, deployment_id }, taken)
        await work.decide(target, {
          decide: now => endFiring(now, { firing, ...version, counts, reached }),
        })
      },
    },
  ]
}

/** A refusal comes before anything is written. */
async function pushed(maker: VersionMaker, work: Work, made: Parameters<VersionMaker['push']>[1]) {
  try {
    return await maker.push(work, made)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Rights may end while a reflow waits for its next firing. */
async function ownerOf({ pool }: Deps, { owner }: Open): Promise<Owner> {
  const role = await roleIfEnabled(pool, owner)
  if (role === null) throw new Refusal('forbidden', `${owner} may no longer sign in`)
  return { username: owner, role, via: 'reflow' }
}

type TakeAll = { reflow: Open; payload: Payload; owner: Owner }

async function takeAll({ deps, sources, signal }: On, { reflow, payload, owner }: TakeAll) {
  const { after, until } = payload
  const scores = await scoresBy(deps, sources, { ...reflow, caller: owner })
  const taking = new Taking(reflow, scores)
  const taken: Taken[] = []
  let reached = until
  const of = { rule: reflow, caller: owner, after, until }
  for await (const page of pagesOf({ deps, sources }, of)) {
    signal.throwIfAborted()
    taken.push(...(await taking.take(page.looked)))
    if (!taking.isFull()) continue
    reached = page.reached ?? until
    break
  }
  return { taken, taking, reached }
}
