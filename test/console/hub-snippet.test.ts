import test from 'ava'
import { snippetOf } from '../../clients/console/src/shell/hub-snippet.ts'

test('the code for Python names the address, the repository and the version', t => {
  const address = 'https://example.com/forge'
  t.is(
    snippetOf({ type: 'dataset', id: 'ada/sums', version: 3 }, address),
    `# export HF_ENDPOINT=https://example.com/forge/api/hub HF_TOKEN=<access token> HF_HUB_DISABLE_XET=1
from huggingface_hub import snapshot_download

folder = snapshot_download(
    "ada/sums",
    repo_type="dataset",
    revision="v3",
)`,
  )
  t.false(snippetOf({ type: 'model', id: 'tutor', version: 1 }, address).includes('repo_type'))
})
