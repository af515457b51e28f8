import { type Route, route } from '../../auth/route.ts'
import { type Rubric, rubricAt } from '../../events/rubrics.ts'
import { digestOf } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type RubricInput,
  rubricInput,
  rubricPath,
  rubricUpsertReply,
} from '../../schemas/rubrics/rubrics.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { reviseRubric } from './decide.ts'
import { retireScores } from './scores.ts'

export const rubricRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/rubrics/{owner}/{name}',
    credential: 'person',
    reach: 'taken',
    tag: 'rubrics',
    summary: 'Create a rubric or make its next version',
    params: rubricPath,
    body: rubricInput,
    response: rubricUpsertReply,
    refusals: ['forbidden', 'not_found'],
    async handle(request) {
      const { caller, params, body } = request
      if (caller.username !== params.owner && caller.role !== 'admin')
        throw new Refusal(
          'forbidden',
          `Only ${params.owner} or an admin may write rubrics of ${params.owner}`,
        )
      refuseBadRubric(params.name, body)
      const command = { owner: params.owner, ...body, digest: digestOf(body) }
      let retired = 0
      const { events, state } = await commit(deps, request, rubricAt(params), {
        decide: rubric => reviseRubric(rubric, command),
        async alongside(tx, { state: next, now }) {
          await ownerExists(tx, params.owner)
          retired = next ? await retireScores(tx, next.content, now) : 0
        },
      })
      return toReply(state, { changed: events.length > 0, retired })
    },
  }),
]

/** Rules beyond the schema, narrower than the specification on purpose; each names its field. */
function refuseBadRubric(pathName: string, body: RubricInput): void {
  const errors: ValidationError[] = []
  if (body.name !== pathName)
    errors.push({
      loc: ['body', 'name'],
      msg: `Value error, name must be '${pathName}' as in the path`,
      type: 'value_error',
      input: body.name,
    })
  if (body.scale_max <= body.scale_min)
    errors.push({
      loc: ['body', 'scale_max'],
      msg: `Input should be greater than scale_min (${body.scale_min})`,
      type: 'greater_than',
      input: body.scale_max,
      ctx: { gt: body.scale_min },
    })
  body.criteria.forEach((criterion, index) => {
    if (body.criteria.findIndex(other => other.name === criterion.name) < index)
      errors.push({
        loc: ['body', 'criteria', index, 'name'],
        msg: 'Value error, criterion names must be unique',
        type: 'value_error',
        input: criterion.name,
      })
  })
  if (errors.length > 0) throw new Invalid(errors)
}

async function ownerExists(
  tx: Parameters<Deps['store']['append']>[0],
  owner: string,
): Promise<void> {
  const { rowCount } = await tx.query('select 1 from auth.person where username = $1', [owner])
  if (rowCount === 0) throw new Refusal('not_found', `No such user: ${owner}`)
}

function toReply(rubric: Rubric, { changed, retired }: { changed: boolean; retired: number }) {
  if (!rubric) throw new Error('a rubric that was just revised is missing')
  const { created_at, updated_at, updated_by, content } = rubric
  return {
    ...content,
    created_at: toTimestamp(new Date(created_at)),
    updated_at: toTimestamp(new Date(updated_at)),
    updated_by,
    created: changed && content.version === 1,
    changed,
    retired_scores: changed ? retired : 0,
  }
}
