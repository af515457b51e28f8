/** A version of a dataset or model, as clients of the Hub name it. */
export type Repo = { type: 'dataset' | 'model'; id: string; version: number }

export const snippetOf = ({ type, id, version }: Repo, address: string): string =>
  `# export HF_ENDPOINT=${address}/api/hub HF_TOKEN=<access token> HF_HUB_DISABLE_XET=1
from huggingface_hub import snapshot_download

folder = snapshot_download(
    "${id}",${type === 'dataset' ? '\n    repo_type="dataset",' : ''}
    revision="v${version}",
)`
