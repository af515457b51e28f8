import layout from '../../design/layout.module.css'
import { Written } from '../../design/written.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { type Detail, pathOf } from './paths.ts'
import { words } from './words.ts'

/** The most that the server accepts. */
const maxLength = 50_000

/** The description of a dataset, which its writers edit. */
export function Card({ dataset }: { dataset: Detail }) {
  const say = useWords(words)
  const path = pathOf(dataset)
  return (
    <Written
      title={say.card}
      text={dataset.card}
      canEdit={dataset.may === 'write'}
      none={<p className={layout.soft}>{say.noCard}</p>}
      hint={say.cardHint}
      maxLength={maxLength}
      read={async () => (await request<Detail>('GET', path)).card}
      save={async card => {
        await request('PATCH', path, { body: { card } })
        await reread(path)
      }}
    />
  )
}
