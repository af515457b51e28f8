import { useState } from 'react'
import { CodeBlock } from '../../design/copy.tsx'
import { Select } from '../../design/field.tsx'
import { Panel } from '../../design/panel.tsx'
import { useWords } from '../../words/words.ts'
import type { Deployment } from './paths.ts'
import { words } from './words.ts'

const languages = ['curl', 'Python', 'TypeScript'] as const
type Language = (typeof languages)[number]

const snippets: Readonly<Record<Language, (url: string) => string>> = {
  curl: url => `curl ${url}/chat/completions \\
  -H "Authorization: Bearer $FORGE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "default", "messages": [{"role": "user", "content": "Hello"}]}'`,
  Python: url => `import os
from openai import OpenAI

client = OpenAI(base_url="${url}", api_key=os.environ["FORGE_TOKEN"])
reply = client.chat.completions.create(
    model="default",
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)`,
  TypeScript: url => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${url}', apiKey: process.env.FORGE_TOKEN })
const reply = await client.chat.completions.create({
  model: 'default',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(reply.choices[0]?.message.content)`,
}

export function Snippets({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <Panel title={say.use}>
      <Select
        label={say.language}
        value={language}
        choices={languages.map(value => ({ value, text: value }))}
        onChange={setLanguage}
      />
      <CodeBlock name={language} text={snippets[language](deployment.base_url)} />
    </Panel>
  )
}
