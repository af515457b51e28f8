import { CodeBlock } from '../design/copy.tsx'
import { Panel } from '../design/panel.tsx'
import { basePath } from '../session/base-path.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { type Repo, snippetOf } from './hub-snippet.ts'

const words = wordsOf({
  title: ['Use from Python', '在 Python 中使用'],
  hint: [
    'The client of the Hugging Face Hub reads it here, with your access token as HF_TOKEN.',
    'Hugging Face Hub 的客户端可从此处读取，HF_TOKEN 为您的访问令牌。',
  ],
})

/** How the Hub's client gets the files of a version of a dataset or model. */
export function UseFromPython({ repo }: { repo: Repo }) {
  const say = useWords(words)
  return (
    <Panel title={say.title}>
      <p>{say.hint}</p>
      <CodeBlock name="Python" text={snippetOf(repo, location.origin + basePath)} />
    </Panel>
  )
}
