import { hubPushAt } from '../../events/hub-pushes.ts'
import { Unreachable } from '../../platform/http/outgoing.ts'
import { Refusal } from '../../platform/refusal.ts'
import { cardFile } from '../../schemas/hub-facade.ts'
import { isPushUnderWay } from '../../schemas/hub-pushes.ts'
import type { Deps } from '../deps.ts'
import { again } from '../effects/further-duties.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { type LeasedDuty, reactor } from '../effects/reactor.ts'
import { NotGiven } from '../rules/hub-answers.ts'
import { type Hub, hubTokenOf, noHub } from '../rules/model-hub.ts'
import { noTokenToWrite } from '../rules/push-to-hub.ts'
import { cardOf } from './card.ts'
import { type Content, contentOfOwner, fileOfText, listFiles } from './content.ts'
import { failPush, finishPush, listPush, progressPush } from './decide.ts'
import { originOf } from './origin.ts'
import { filesOf, findPush, type PushRow, saveFiles, savePush } from './rows.ts'
import { sendFiles } from './send.ts'

type Needed = Pick<Deps, 'pool' | 'artifacts' | 'sealing' | 'hub'>
type Payload = { push_id: string }

/** How often it is asked whether the push is still wanted. */
const askMs = 2000
const attempts = 8

/**
 * Sends artifacts to the hub, one file after the other. A killed process leaves what the hub has received, and another one sends the
 * rest within a minute; the commit comes last, and is not repeated if the hub has the same files already.
 */
export const hubPusher = reactor<Payload, Needed>({
  name: 'push-to-hub',
  repeat: 'ask first',
  dutiesOf: ({ type, data }) =>
    type === 'hub.push_requested' && data.artifact_id !== null
      ? [{ payload: { push_id: data.push_id } }]
      : [],
  deadlineMs: 6 * 3_600_000,
  renewMs: 20_000,
  attempts,
  atOnce: 2,
  async perform(duty, deps, signal): Promise<Outcome> {
    const found = await findPush(deps.pool, duty.payload.push_id)
    if (!found || !isPushUnderWay(found.state)) return nothing
    const unwanted = new AbortController()
    const asking = setInterval(async () => {
      const now = await findPush(deps.pool, found.push_id).catch(() => found)
      if (!now || !isPushUnderWay(now.state)) unwanted.abort()
    }, askMs)
    const stop = AbortSignal.any([signal, unwanted.signal])
    try {
      if (deps.hub === null) throw noHub()
      const { pool, sealing } = deps
      const token = await hubTokenOf(pool, sealing, found.owner)
      if (token === null) throw new Refusal('invalid', noTokenToWrite)
      const content = await contentOfOwner(pool, found)
      const on = { deps, hub: deps.hub, duty, found, content, token, stop }
      return found.state === 'requested' ? await listed(on) : await sent(on)
    } catch (error) {
      signal.throwIfAborted()
      return unwanted.signal.aborted ? nothing : failed(found, duty, error)
    } finally {
      clearInterval(asking)
    }
  },
})

type On = {
  deps: Needed
  hub: Hub
  duty: LeasedDuty<Payload>
  found: PushRow
  content: Content
  token: string
  stop: AbortSignal
}

const identityOf = ({ push_id, owner, repo }: PushRow) => ({ push_id, owner, repo })

/** Reads the artifact once, for the digests of its files. */
async function listed({ deps, hub, duty, found, content, token, stop }: On): Promise<Outcome> {
  const { files, card: own } = await listFiles(deps, content, stop)
  const origin = await originOf(deps.pool, content, {
    repo: found.repo,
    // The card can do without it.
    licenseOf: ({ repo, commit }) =>
      hub
        .pin({ repo, revision: commit, token })
        .then(({ license }) => license)
        .catch(() => null),
  })
  const card = cardOf(origin, own)
  const all = [fileOfText(cardFile, card), ...files.filter(({ name }) => name !== cardFile)]
  const bytes = all.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  const data = { ...identityOf(found), file_count: all.length, bytes, card }
  return [
    decided(hubPushAt(found), {
      decide: before => listPush(before, data),
      async alongside(tx, decided) {
        await savePush(tx, decided)
        await saveFiles(tx, found.push_id, all)
      },
    }),
    again(duty.duty_id, 0),
  ]
}

async function sent({ deps, hub, duty, found, content, token, stop }: On): Promise<Outcome> {
  const { repo, is_private: isPrivate } = found
  const files = await filesOf(deps.pool, found.push_id)
  const progress = await sendFiles(deps, hub.sending, {
    ...{ to: { repo, token }, isPrivate, files, content, stop },
    ...{ card: found.card ?? '', summary: `Add ${content.artifact_id} of ${content.run_id}` },
  })
  const target = hubPushAt(found)
  const identity = identityOf(found)
  if (progress.is === 'partly') {
    const { bytes_done } = progress
    return [
      decided(target, { decide: before => progressPush(before, { ...identity, bytes_done }) }),
      again(duty.duty_id, 0),
    ]
  }
  const data = { ...identity, commit: progress.commit, url: `${hub.endpoint}/${repo}` }
  return [decided(target, { decide: before => finishPush(before, data), alongside: savePush })]
}

/** A refusal ends it at once, a hub that is away after some attempts; anything else is tried again by the duty itself. */
function failed(found: PushRow, { attempt }: LeasedDuty<Payload>, error: unknown): Outcome {
  const reason =
    error instanceof NotGiven
      ? `The hub does not take ${found.repo}: ${error.message}${error.code === '' ? '' : ` (${error.code})`}`
      : error instanceof Refusal && error.code !== 'unavailable'
        ? error.detail
        : null
  if (reason === null && attempt < attempts) throw error
  const last =
    error instanceof Unreachable
      ? `The model hub is not usable: ${error.message}`
      : 'Sending failed on this server; its log says why'
  return [
    decided(hubPushAt(found), {
      decide: before =>
        failPush(before, { ...identityOf(found), reason: (reason ?? last).slice(0, 1000) }),
      alongside: savePush,
    }),
  ]
}
