import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type ViewName, viewAt } from '../../events/views.ts'
import { digestOf } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import { defaultView } from '../../schemas/default-view.ts'
import { Invalid } from '../../schemas/validate.ts'
import {
  type ViewInput,
  viewInput,
  viewLimits,
  viewPath,
  viewRemoved,
  viewSaved,
} from '../../schemas/views.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { judge, rolesIn } from '../rules/access.ts'
import { findProject } from '../rules/short-id.ts'
import { removeView, saveView } from './decide.ts'

const common = {
  path: '/api/projects/{name}/views/{view}',
  credential: 'person',
  reach: 'its_people',
  tag: 'projects',
  params: viewPath,
} as const

export const viewRoutes = (deps: Deps): Route[] => [
  route({
    ...common,
    method: 'PUT',
    summary: "Save a view of a project's workspace: one's own, or as a maintainer the default one",
    body: viewInput,
    response: viewSaved,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const name = await nameFor(deps, caller, params)
      const state = stateOf(body)
      const shared = name.owner === null || (body.shared ?? false)
      const command = { ...name, shared, state, digest: digestOf(body.state) }
      const { events } = await commit(deps, request, viewAt(name), {
        // Views of one person in one project are counted one after the other.
        locks: [`views of ${name.owner} in ${name.project}`],
        decide: view => saveView(view, command),
        alongside: tx => countIn(tx, name),
      })
      const { view, owner } = name
      return { view, owner, shared, changed: events.length > 0 }
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    summary:
      "Remove a view of a project's workspace: one's own, or as a maintainer the default one",
    response: viewRemoved,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const name = await nameFor(deps, request.caller, request.params)
      await commit(deps, request, viewAt(name), {
        decide: view => removeView(view, name),
        alongside: tx =>
          tx.query(
            'delete from write.saved_view where project = $1 and owner = $2 and view = $3',
            rowOf(name),
          ),
      })
      return { view: name.view, removed: true }
    },
  }),
]

/** The view that a path names for this person; refuses unless they may read the project, or configure it for its default. */
async function nameFor(
  { pool }: Pick<Deps, 'pool'>,
  caller: Person,
  { name: project, view }: { name: string; view: string },
): Promise<ViewName> {
  const known = await findProject(pool, project, caller)
  const isDefault = view === defaultView
  const verdict = known ? judge(rolesIn(known, caller), isDefault ? 'configure' : 'read') : 'hidden'
  if (verdict === 'hidden') throw new Refusal('not_found', `No such project: ${project}`)
  if (verdict === 'forbidden')
    throw new Refusal('forbidden', `Only maintainers may change the default view of ${project}`)
  return { project, view, owner: isDefault ? null : caller.username }
}

function stateOf({ state }: ViewInput): string {
  const text = JSON.stringify(state)
  const bytes = Buffer.byteLength(text)
  if (bytes <= viewLimits.bytes) return text
  throw new Invalid([
    {
      loc: ['body', 'state'],
      msg: `The state has ${bytes} bytes as JSON; a view may have ${viewLimits.bytes}`,
      type: 'too_long',
      ctx: { max_length: viewLimits.bytes, actual_length: bytes },
    },
  ])
}

const rowOf = ({ project, owner, view }: ViewName) => [project, owner ?? '', view]

async function countIn(tx: Transaction, name: ViewName): Promise<void> {
  await tx.query(
    'insert into write.saved_view (project, owner, view) values ($1, $2, $3) on conflict do nothing',
    rowOf(name),
  )
  const { rows } = await tx.query<{ count: number }>(
    'select count(*) as count from write.saved_view where project = $1 and owner = $2',
    rowOf(name).slice(0, 2),
  )
  if ((rows[0]?.count ?? 0) > viewLimits.ofPerson)
    throw new Refusal(
      'conflict',
      `You have ${viewLimits.ofPerson} views in project ${name.project}, the most that a person may have; remove one first`,
    )
}
