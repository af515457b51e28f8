import { modelAt } from '../../events/models.ts'
import { projectAt } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import { defaultProtectedAliases } from '../../schemas/models.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { type ModelHead, newestVersion } from '../rules/newest-model-version.ts'
import { createEmptyProject, findProject, refuseProjectOfOthers } from '../rules/short-id.ts'
import { modelToActOn } from './act-on.ts'
import { createModel, createVersion } from './decide.ts'
import { lockSource, saveModel } from './rows.ts'

type Name = { owner: string; name: string }
type Added = {
  model: string
  project: string
  artifact_id: string
  /** The number of the version on which it builds. */
  after: number
  stage_notes: string
  license: string | null
}

/** What a client of the Hub may do with models. */
export const modelsOfHub = (deps: Deps) => ({
  /** The project of a model to which this person may add versions. */
  async toWrite({ owner, name }: Name, caller: Asking): Promise<{ project: string }> {
    const found = await modelToActOn(deps.pool, { model: name, caller, action: 'submit' })
    if (found.owner !== owner) throw new Refusal('not_found', `No such model: ${owner}/${name}`)
    return { project: found.project }
  },

  headOf: (model: string): Promise<ModelHead> => newestVersion(deps.pool, model),

  /** Creates a model without versions, and its project if there is none. */
  async open(request: HttpAsked, model: string, { project, caller }: Opened): Promise<void> {
    const target = modelAt(model)
    const owner = caller.username
    const known = await findProject(deps.pool, project, caller)
    if (known) refuseProjectOfOthers(known, project, caller)
    const protected_aliases = [...defaultProtectedAliases]
    await create(deps, request, target, {
      locks: known ? [] : [projectAt(project).stream],
      async make(work) {
        if (!known) await createEmptyProject(deps, work, { project, caller })
        await work.decide(target, {
          decide: state =>
            createModel(state, { model, project, owner, description: '', protected_aliases }),
          alongside: saveModel,
        })
        return null
      },
    })
  },

  /** Refused if another version came first. */
  addVersion(request: HttpAsked, { model, project, after, ...made }: Added): Promise<ModelHead> {
    const target = modelAt(model)
    return create(deps, request, target, {
      async make({ tx, decide }) {
        const { run_id } = await lockSource(tx, { artifact_id: made.artifact_id, project })
        await decide(target, {
          decide(state) {
            if (state && state.versions.length !== after) throw changed(model)
            return createVersion(state, model, { ...made, run_id })
          },
          alongside: saveModel,
        })
        return newestVersion(tx, model)
      },
    })
  },
})

type Opened = { project: string; caller: Asking }

const changed = (model: string) =>
  new Refusal('precondition_failed', `${model} got another version meanwhile; repeat the commit`, {
    code: 'hub.parent_commit',
  })
