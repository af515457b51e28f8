import { hubFacades } from '../../schemas/hub-facade.ts'

const oid = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const object = { oid, size: 2_097_152 }

/** For the documentation of the API, the same for people and for running code. */
export const hubBodies = Object.fromEntries(
  hubFacades.flatMap(({ mount }) =>
    Object.entries({
      'api/repos/create': { name: 'gsm8k-clean', type: 'dataset', visibility: 'private' },
      'api/validate-yaml': { content: '---\nlicense: mit\n---\n' },
      'api/datasets/{owner}/{name}/preupload/{revision}': {
        files: [{ path: 'train.jsonl', size: 2_097_152 }],
      },
      'api/datasets/{owner}/{name}/paths-info/{revision}': { paths: ['train.jsonl'] },
      'api/models/{model}/paths-info/{revision}': { paths: ['model.safetensors'] },
      'api/models/{owner}/{name}/paths-info/{revision}': { paths: ['model.safetensors'] },
      'api/models/{owner}/{name}/preupload/{revision}': {
        files: [{ path: 'model.safetensors', size: 2_097_152 }],
      },
      '{owner}/{repo}/info/lfs/objects/batch': { operation: 'upload', objects: [object] },
      '{owner}/{repo}/info/lfs/objects/verify': object,
      'api/models/{owner}/{name}/commit/{revision}': {
        header: { summary: 'Add the weights' },
        operations: [{ key: 'lfsFile', value: { path: 'model.safetensors', ...object } }],
      },
      'datasets/{owner}/{repo}/info/lfs/objects/batch': { operation: 'upload', objects: [object] },
      'datasets/{owner}/{repo}/info/lfs/objects/verify': object,
      'api/datasets/{owner}/{name}/commit/{revision}': {
        header: { summary: 'Add the training split' },
        operations: [{ key: 'lfsFile', value: { path: 'train.jsonl', ...object } }],
      },
    }).map(([path, body]) => [`POST ${mount}/${path}`, body]),
  ),
)
