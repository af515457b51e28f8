import test from 'ava'
import {
  type Action,
  judge,
  type ProjectFacts,
  type ProjectRole,
  permitted,
  rolesIn,
} from '../../command-api/rules/access.ts'
import { runToActOn } from '../../command-api/rules/run-to-act-on.ts'
import type { Refusal } from '../../platform/refusal.ts'
import { type OnePerRole, onePerRole, project, type Who } from './one-per-role.ts'

const roles = Object.keys(permitted) as ProjectRole[]
const actions: readonly Action[] = ['read', 'submit', 'control', 'issue_token', 'configure']

for (const projectRole of roles)
  for (const action of actions)
    test(`the rule: may a ${projectRole} ${action}?`, t => {
      const listed = permitted[projectRole].includes(action)
      t.is(judge([projectRole], action), listed ? 'permitted' : 'forbidden')
      // An additional role never removes a right.
      t.is(
        judge([projectRole, 'guest', 'viewer'], action),
        listed || action === 'read' ? 'permitted' : 'forbidden',
      )
    })

test('a person without a role in a project learns nothing about it', t => {
  for (const action of actions) t.is(judge([], action), 'hidden')
})

test('a person can have several roles in a project at once', t => {
  const facts: ProjectFacts = { owner: 'ada', visibility: 'private', memberRole: null }
  const [ada, eve] = [
    { username: 'ada', role: 'operator' },
    { username: 'eve', role: 'operator' },
  ] as const
  t.deepEqual(rolesIn(facts, eve), [])
  t.deepEqual(rolesIn(facts, ada, { owner: 'ada' }), ['owner', 'submitter'])
  t.deepEqual(rolesIn({ ...facts, visibility: 'internal' }, eve), ['guest'])
  t.deepEqual(rolesIn({ ...facts, memberRole: 'viewer' }, { ...eve, role: 'admin' }), [
    'admin',
    'viewer',
  ])
})

/** The roles of each person in a project of that visibility, or for the run of the submitter. */
function rolesOf(who: Who, visibility: 'private' | 'internal', ofRun: boolean): ProjectRole[] {
  const own: ProjectRole[] = who === 'stranger' || who === 'guest' ? [] : [who]
  const kept = own.filter(projectRole => ofRun || projectRole !== 'submitter')
  return visibility === 'internal' ? [...kept, 'guest'] : kept
}

type Attempt = {
  action: Action
  ofRun: boolean
  call: (people: OnePerRole, who: Who) => Promise<number>
}

const request =
  (method: string, path: (people: OnePerRole) => string, body?: object) =>
  async (people: OnePerRole, who: Who) =>
    (await people.forge.call(method, path(people), { token: people.tokens[who], body })).status

/** The routes by the action that they require; the expected statuses follow from the rule. */
const attempts: Record<string, Attempt> = {
  'read the project': {
    action: 'read',
    ofRun: false,
    call: request('GET', () => `/api/projects/${project}`),
  },
  'read its members': {
    action: 'read',
    ofRun: false,
    call: request('GET', () => `/api/projects/${project}/members`),
  },
  'read a run of it': {
    action: 'read',
    ofRun: true,
    call: request('GET', ({ run }) => `/api/runs/${run.run_id}`),
  },
  'submit to it': {
    action: 'submit',
    ofRun: false,
    call: request('POST', () => '/api/runs', { project }),
  },
  'change its settings': {
    action: 'configure',
    ofRun: false,
    call: request('PATCH', () => `/api/projects/${project}`, {}),
  },
  'set a member': {
    action: 'configure',
    ofRun: false,
    call: request('PUT', () => `/api/projects/${project}/members/viewer`, { role: 'viewer' }),
  },
  'act on a run of it': {
    action: 'control',
    ofRun: true,
    call: ({ forge, run }, who) =>
      runToActOn(forge.pool, {
        asked: run.short_id,
        caller: person(who),
        action: 'control',
        noun: 'run',
      }).then(
        () => 200,
        (error: Refusal) => error.status,
      ),
  },
  'issue a token of a run': {
    action: 'issue_token',
    ofRun: true,
    call: request('POST', ({ run }) => `/api/runs/${run.short_id}/token`),
  },
}

const person = (who: Who) => ({
  kind: 'person' as const,
  username: who,
  role: who === 'admin' ? ('admin' as const) : ('operator' as const),
  sid: 's',
  via: 'test',
  issuedAt: new Date(0),
  expiresAt: new Date(0),
})

test('every route responds to every person by the rule, in private and internal projects', async t => {
  const all = await onePerRole(t)
  for (const visibility of ['private', 'internal'] as const) {
    await all.forge.call('PATCH', `/api/projects/${project}`, { body: { visibility } })
    for (const [what, { action, ofRun, call }] of Object.entries(attempts))
      for (const who of Object.keys(all.tokens) as Who[]) {
        const verdict = judge(rolesOf(who, visibility, ofRun), action)
        // Names are global, so only submitting is 403 even for people who may not read the project.
        const hidden = action === 'submit' ? 403 : 404
        const expected = { permitted: 200, forbidden: 403, hidden }[verdict]
        t.is(await call(all, who), expected, `${who}: ${what}, ${visibility}`)
      }
  }
  const { forge, tokens, run } = all
  const refusal = async (who: Who, path: string, body = {}) =>
    (await forge.call('POST', path, { token: tokens[who], body })).body.detail
  const told = await refusal('stranger', '/api/runs', { project })
  t.regex(String(told), /^Project demo belongs to somebody else/)
  t.is(
    await refusal('viewer', `/api/runs/${run.run_id}/token`),
    'Only submitter may issue tokens of this run',
  )
})

test('a job can be stopped by permitted people, is 403 for mere readers, and 404 for others', async t => {
  const { forge, tokens } = await onePerRole(t)
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { status, body: job } = await forge.call<OnePerRole['run']>('POST', '/api/jobs', {
    token: tokens.member,
    body: {
      api: 'forge/v2',
      metadata: { name: 'held', project },
      lock,
      spec: { scheduling: { not_before: '2099-01-01T00:00:00+00:00' } },
    },
  })
  t.is(status, 200, JSON.stringify(job))
  const stop = (who: Who) =>
    forge.call('POST', `/api/jobs/${job.short_id}/stop`, { token: tokens[who] })
  for (const who of ['stranger', 'guest', 'submitter'] as const)
    t.like((await stop(who)).body, { detail: `No such job: ${job.short_id}` }, who)
  t.like((await stop('viewer')).body, {
    detail: 'Only member, maintainers of its project and admins may act on this job',
    code: 'forbidden',
  })
  t.is((await stop('maintainer')).status, 200)
  for (const who of ['member', 'owner', 'admin'] as const) t.is((await stop(who)).status, 409, who)
})
