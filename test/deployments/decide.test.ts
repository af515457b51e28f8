import test from 'ava'
import { changeDeployment, createDeployment, move } from '../../command-api/deployments/decide.ts'
import { deploymentTable, revisionTable } from '../../command-api/deployments/lifecycle.ts'
import {
  createRevision,
  promote,
  retireRevision,
  revisionFailed,
  revisionReady,
  rollBack,
} from '../../command-api/deployments/revisions/decide.ts'
import { createToken, revokeToken } from '../../command-api/deployments/tokens/decide.ts'
import { type Deployment, type DeploymentEvent, deployments } from '../../events/deployments.ts'
import { deploymentStates, revisionStates } from '../../schemas/deployments/deployments.ts'

const settings = {
  ...{ name: 'tutor', team: null, min_replicas: 1, max_replicas: 1 },
  ...{ max_body_bytes: 1024, timeout_s: 600, max_concurrency: 10 },
}
const source = {
  ...{ kind: 'external' as const, artifact_id: null, run_id: null, model: null, hub_ref: null },
  ...{ digest: null, url: 'http://engine', header_name: null },
}
const serving = {
  ...{ template: null, template_version: null, template_digest: null, framework: null },
  ...{
    engine: 'external',
    engine_version: null,
    image: null,
    params: {},
    args: [],
    tensor_parallel: 1,
  },
  ...{ served_names: ['default'], dtype: null, quantization: null, profile: null },
  ...{ chat_template: null, smoke: 'chat' as const },
}
const actor = { type: 'user', id: 'ada', via: 'password' } as const
const after = (deployment: Deployment, events: readonly DeploymentEvent[]): Deployment =>
  events.reduce(
    (state: Deployment, event) =>
      deployments.evolve(state, { ...event, occurred_at: '2026-11-20T12:00:00Z', actor }),
    deployment,
  )
const types = (events: readonly DeploymentEvent[]) => events.map(({ type }) => type)

const ids = { deployment_id: 'dep_1', owner: 'ada', project: 'sums' }
const revision = (revision_id: string, auto_promote = false) => ({
  ...{ revision_id, source, serving, auto_promote },
})
const made = after(null, createDeployment(null, { ...ids, ...settings }, revision('a', true)))
const answer = { checks: [], load_s: 1, gate: { promoted: null, failed: [] } }
const serves = after(made, revisionReady(made, 'a', answer))
const both = (() => {
  const two = after(serves, createRevision(serves, revision('b')))
  return after(two, revisionReady(two, 'b', answer))
})()

test('the first revision is promoted once it is ready; a later one waits for a person', t => {
  t.deepEqual(types(revisionReady(made, 'a', answer)), [
    'deployment.revision_ready',
    'deployment.promoted',
  ])
  t.is(both?.promoted_revision_id, 'a')
  t.deepEqual(revisionReady(both, 'b', answer), [], 'it is ready already')
})

test('a late revision is not promoted automatically over a newer one', t => {
  const two = after(made, createRevision(made, revision('b', true)))
  const newer = after(two, revisionReady(two, 'b', answer))
  t.deepEqual(types(revisionReady(newer, 'a', answer)), ['deployment.revision_ready'])
})

test('a revision that benchmarks refuse becomes ready, but is not promoted automatically', t => {
  const two = after(serves, createRevision(serves, revision('b', true)))
  const gate = { promoted: 'a', failed: ['gsm8k@1: no score'] }
  const refused = revisionReady(two, 'b', { ...answer, gate })
  t.deepEqual(types(refused), ['deployment.revision_ready', 'deployment.revision_not_promoted'])
  const state = after(two, refused)
  t.is(state?.promoted_revision_id, 'a')
  t.like(state?.revisions.b, { state: 'ready', state_reason: 'gsm8k@1: no score' })
  // It was compared with a revision that is no longer the promoted one.
  t.throws(() => revisionReady(two, 'b', answer), { message: /promoted meanwhile/ })
})

test('an overridden benchmark is recorded with the promotion', t => {
  const failed = ['gsm8k@1: no score']
  const asked = { revision_id: 'b', reason: 'urgent', expected: 'a', overridden: failed }
  t.like(promote(both, asked), [
    { type: 'deployment.promoted' },
    { type: 'deployment.gates_overridden', data: { revision_id: 'b', failed } },
  ])
  t.deepEqual(promote(serves, { ...asked, revision_id: 'a' }), [], 'it is already promoted')
})

test('only a ready revision is promoted, and only over the revision that the caller expects', t => {
  const pending = after(both, createRevision(both, revision('c')))
  const to = (revision_id: string, expected?: string | null) => () =>
    promote(both, { revision_id, reason: '', expected })
  t.throws(() => promote(pending, { revision_id: 'c', reason: '', expected: undefined }), {
    message: /is pending; only a ready one/,
  })
  t.throws(to('b', 'b'), { message: /promoted revision is a, not b/ })
  t.throws(to('b', null), { message: /promoted revision is a, not none/ })
  t.throws(to('nothing'), { message: /No such revision/ })
  t.throws(to('__proto__'), { message: /No such revision/ })
  t.deepEqual(to('a')(), [], 'it is already promoted')
  t.deepEqual(types(to('b', 'a')()), ['deployment.promoted'])
})

test('a rollback goes to the previous revision, or to another ready one', t => {
  t.throws(() => rollBack(serves, { to: null, reason: '' }), {
    message: /No revision was promoted before/,
  })
  const promoted = after(both, promote(both, { revision_id: 'b', reason: '', expected: 'a' }))
  const [back] = rollBack(promoted, { to: null, reason: 'worse' })
  t.like(back, {
    type: 'deployment.rolled_back',
    data: { revision_id: 'a', previous_revision_id: 'b' },
  })
  t.throws(() => rollBack(promoted, { to: 'b', reason: '' }), { message: /already promoted/ })
  const gone = after(promoted, retireRevision(promoted, 'a', 'old'))
  t.throws(() => rollBack(gone, { to: null, reason: '' }), { message: /a is retired/ })
})

test('a promoted revision cannot be retired, and a failed one stays failed', t => {
  t.throws(() => retireRevision(serves, 'a', ''), { message: /is promoted/ })
  const failed = revisionFailed(made, 'a', { reason: 'no answer', checks: [] })
  t.deepEqual(types(failed), ['deployment.revision_failed', 'deployment.state_changed'])
  const over = after(made, failed)
  t.deepEqual(revisionReady(over, 'a', answer), [])
  t.deepEqual(revisionFailed(over, 'a', { reason: 'again', checks: [] }), [])
})

test('every state defines its response to every trigger', t => {
  for (const state of deploymentStates)
    for (const next of Object.values(deploymentTable[state]))
      t.true(['stay', 'refuse', ...deploymentStates].includes(next))
  t.deepEqual(Object.keys(revisionTable).sort(), [...revisionStates].sort())
  t.throws(() => move(serves && { ...serves, state: 'suspended' }, 'suspend'), {
    message: /is suspended/,
  })
  t.deepEqual(types(move(serves, 'suspend')), ['deployment.state_changed'])
  t.deepEqual(types(move(serves && { ...serves, state: 'suspending' }, 'ends')), [
    'deployment.suspended',
  ])
  t.deepEqual(types(move(serves && { ...serves, state: 'deleting' }, 'ends')), [
    'deployment.deleted',
  ])
})

test('a deployment that is being deleted accepts no more commands', t => {
  const gone: Deployment = serves && { ...serves, state: 'deleting' }
  t.throws(() => createToken(gone, { token_id: 't', name: 'n', note: '', capture: false }), {
    message: /is deleting/,
  })
  t.throws(() => changeDeployment(gone, { team: 'rl' }), { message: /is deleting/ })
  t.deepEqual(revisionReady(gone, 'a', answer), [])
})

test('settings change as a whole, and never to impossible values', t => {
  t.deepEqual(changeDeployment(serves, { team: null }), [])
  t.throws(() => changeDeployment(serves, { min_replicas: 2 }), {
    message: /more than replicas.max/,
  })
  t.like(changeDeployment(serves, { max_replicas: 3 })[0], {
    data: { ...settings, max_replicas: 3 },
  })
})

test('a name belongs to one live token, and a revoked one stays revoked', t => {
  const one = after(
    serves,
    createToken(serves, { token_id: 't1', name: 'web', note: '', capture: false }),
  )
  t.throws(() => createToken(one, { token_id: 't2', name: 'web', note: '', capture: false }), {
    message: /named web/,
  })
  const revoked = after(one, revokeToken(one, 't1'))
  t.deepEqual(revokeToken(revoked, 't1'), [])
  t.is(createToken(revoked, { token_id: 't2', name: 'web', note: '', capture: false }).length, 1)
  t.throws(() => revokeToken(revoked, 't9'), { message: /No such token/ })
})

test('allowed origins are normalized and sorted, and have their own event', t => {
  const allow = (deployment: Deployment, ...allowed_origins: string[]) =>
    changeDeployment(deployment, {}, { allowed_origins })
  const changed = allow(serves, 'https://b.example', 'http://a.example:3000')
  t.deepEqual(changed, [
    {
      type: 'deployment.origins_changed',
      data: {
        deployment_id: 'dep_1',
        allowed_origins: ['http://a.example:3000', 'https://b.example'],
      },
    },
  ])
  const allowed = after(serves, changed)
  t.deepEqual(allow(allowed, 'http://a.example:3000', 'https://b.example'), [])
  t.deepEqual(changeDeployment(allowed, {}), [], 'absent: they stay')
  t.is(allow(allowed).length, 1)
  for (const wrong of ['https://B.example', 'https://b.example:443', 'ftp://b.example', 'b'])
    t.throws(() => allow(serves, wrong), { message: /is no origin/ })
  t.throws(() => allow(serves, '*', 'https://b.example'), { message: /stands alone/ })
})

test('gating benchmarks are sorted, have their own event, and stay if absent', t => {
  const gate = (deployment: Deployment, ...benchmark_gates: string[]) =>
    changeDeployment(deployment, {}, { benchmark_gates })
  const changed = gate(serves, 'mmlu@2', 'gsm8k@1')
  t.like(changed, [
    { type: 'deployment.gates_changed', data: { benchmark_gates: ['gsm8k@1', 'mmlu@2'] } },
  ])
  const gated = after(serves, changed)
  t.deepEqual(gate(gated, 'gsm8k@1', 'mmlu@2'), [])
  t.deepEqual(changeDeployment(gated, {}), [])
  t.is(gate(gated).length, 1)
})
