import type { TObject } from 'typebox'
import {
  hubDatasetRevision,
  hubGitDataset,
  hubGitModel,
  hubOwnedModelRevision,
} from '../../schemas/hub-facade.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { refuseName } from './files.ts'
import { headOfModel, refuseModelPath } from './model-files.ts'
import { type HubPorts, type HubRequest, type Writer, writerOf } from './ports.ts'

type Name = { owner: string; name: string }

/** A kind of repositories that clients write: its paths and rules. */
export type Kind = {
  noun: 'dataset' | 'model'
  path: string
  revised: TObject
  /** Its path as git names it. */
  git: string
  gitNamed: TObject
  /** The prefix of addresses. */
  prefix: '' | 'datasets/'
  refuseName(path: string): void
  /** Throws if the caller may not write to it. */
  admit(caller: HubRequest['caller'], named: Name): Promise<Writer>
  /** The files on which a commit builds. */
  filesOf(named: Name): Promise<readonly { name: string; sha256: string }[]>
}

export const datasetsOf = (deps: Deps, ports: HubPorts): Kind => ({
  ...{ noun: 'dataset', path: 'api/datasets/{owner}/{name}', revised: hubDatasetRevision },
  ...{ git: 'datasets/{owner}/{repo}', gitNamed: hubGitDataset, prefix: 'datasets/', refuseName },
  async admit(caller, named) {
    const writer = await writerOf(deps.pool, caller)
    await refuseUnlessWriter(deps.pool, named, writer)
    return writer
  },
  filesOf: async named => (await ports.headOf(deps.pool, named)).files,
})

export const modelsOf = (deps: Deps, ports: HubPorts): Kind => ({
  ...{ noun: 'model', path: 'api/models/{owner}/{name}', revised: hubOwnedModelRevision },
  ...{ git: '{owner}/{repo}', gitNamed: hubGitModel, prefix: '', refuseName: refuseModelPath },
  async admit(caller, named) {
    const writer = await writerOf(deps.pool, caller)
    await ports.models.toWrite(named, writer)
    return writer
  },
  async filesOf({ name }) {
    const { files } = await headOfModel(deps, ports, name)
    return files.map(({ path, sha256 }) => ({ name: path, sha256 }))
  },
})
