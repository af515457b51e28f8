import type { Fixture, Sample, SampleServer } from './sample.ts'

const sample = `sha256:${'0'.repeat(64)}`
const leavesNoEvent = 'a sample can be judged again: docs/use/validation.md'

const ofRun = ({ fields }: Fixture) => ({
  run_id: fields.run_id,
  rubric: fields.rubric,
})

const judgedBy = ({ fields, nouns }: Fixture) => ({
  run_id: fields.run_id,
  judge: nouns.deployments?.deployment_id,
  // Other tests report empty rounds.
  step: 10,
})

async function versionOf({ send, credentials, fixtures }: SampleServer): Promise<number> {
  const path = `/api/rubrics/${fixtures.operator.fields.rubric}`
  return JSON.parse((await send({ method: 'GET', path, headers: credentials.operator })).text)
    .version
}

export const rubricSample: Sample = {
  slice: 'rubrics',
  things: {
    rubric: `select distinct on (stream) substr(stream, 8), null, null, data ->> 'owner', null, data ->> 'visibility', false
             from write.event where type = 'rubric.updated' order by stream, stream_version desc`,
  },
  async make({ ask, owner, made, pool }) {
    const rubric = { owner: owner.username, name: `rubric-of-${owner.username}` }
    await ask({
      method: 'PUT',
      path: `/api/rubrics/${rubric.owner}/${rubric.name}`,
      body: { name: rubric.name, criteria: [{ name: 'clear' }] },
    })
    const judging_id = `jdg_of_${owner.username}`
    // The fixture of a judging needs no engine that responds.
    await pool.query(
      `insert into write.judging (judging_id, run_id, step, rubric_owner, rubric, version, deployment_id, revision_id,
         username, state, created_at, ended_at)
       values ($1, $2, 10, $3, $4, 1, 'dep_gone', 'rev_gone', $3, 'succeeded', now(), now())`,
      [judging_id, made.nouns.runs?.run_id, rubric.owner, rubric.name],
    )
    return {
      nouns: { rubrics: rubric, judgings: { judging_id } },
      fields: { rubric: `${rubric.owner}/${rubric.name}` },
    }
  },
  missing: ({ nouns }, whose) => ({
    nouns: {
      rubrics: { owner: String(nouns.rubrics?.owner), name: `rubric-of-${whose}` },
      judgings: { judging_id: `jdg_of_${whose}` },
    },
    fields: { rubric: `${nouns.rubrics?.owner}/rubric-of-${whose}` },
  }),
  hidden: ['rubrics', 'judgings'],
  lists: { '/api/rubrics': 'its people' },
  pages: () => ['/rubrics/me/new'],
  tables: {
    rubrics: { seenBy: 'owner', isFilled: true, cells: () => ({ visibility: 'private' }) },
  },
  publish: ({ username }) =>
    `update read.rubrics set visibility = 'public' where owner = '${username}'`,
  changes: {
    'PUT /api/rubrics/{owner}/{name}': {
      body: ({ fixtures }) => ({
        name: fixtures.operator.nouns.rubrics?.name,
        criteria: [{ name: 'short' }],
      }),
    },
    'POST /api/rubrics/{owner}/{name}/scores': {
      body: async server => ({
        version: await versionOf(server),
        judge: 'a@1',
        scores: [{ sample, score: 0.5 }],
      }),
      leavesNoEvent,
    },
    'POST /api/rubrics/{owner}/{name}/scores/lookup': {
      body: () => ({ judge: 'a@1', samples: [sample] }),
      leavesNoEvent: 'it changes nothing',
    },
    'POST /api/rubrics/{owner}/{name}/test': {
      body: ({ fixtures: { operator } }) => ({ ...judgedBy(operator), limit: 1 }),
      leavesNoEvent: 'it changes nothing',
    },
    'POST /api/runs/{run_id}/judgings': {
      body: ({ fixtures: { operator } }) => {
        const { run_id: _, ...by } = judgedBy(operator)
        return { ...by, rubric: operator.fields.rubric }
      },
    },
    'POST /api/runs/{run_id}/judgings/{judging_id}/cancel': {
      leavesNoEvent: 'the judging of the sample has ended',
    },
    'POST /api/ingest/rubric/scores': {
      body: ({ fixtures: { operator } }) => ({
        ...ofRun(operator),
        version: 1,
        judge: 'a@1',
        scores: [{ sample, score: 0.5 }],
      }),
      leavesNoEvent,
    },
    'POST /api/ingest/rubric/scores/lookup': {
      body: ({ fixtures: { operator } }) => ({
        ...ofRun(operator),
        judge: 'a@1',
        samples: [sample],
      }),
      leavesNoEvent: 'it changes nothing',
    },
  },
}
