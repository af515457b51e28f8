import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FoundType, foundTypes, type SearchReply } from '../../../../schemas/found.ts'
import { reading } from '../session/api.ts'
import { visible } from '../words/visible.ts'
import { useWords, wordsOf } from '../words/words.ts'

const words = wordsOf({
  everything: [(q: string) => `Everything with ${q}`, (q: string) => `所有类型中符合 ${q} 的结果`],
})

const typeWords = wordsOf({
  run: ['Run', '运行'],
  model: ['Model', '模型'],
  deployment: ['Deployment', '部署'],
  dataset: ['Dataset', '数据集'],
  environment: ['RL environment', '强化学习环境'],
  rubric: ['Rubric', '评分标准'],
  artifact: ['Artifact', '产物'],
  diagnosis: ['Diagnosis', '诊断'],
  person: ['Person', '用户'],
} satisfies Record<FoundType, readonly [string, string]>)

export type OtherThing = { key: string; text: string; act: () => void }

/** Results of each type. */
const shown = 2
/** Shorter texts match nearly everything. */
const leastText = 2

/** The palette's items besides runs, pages and commands: the newest things with `q`, and the page of all. */
export function useOtherThings(q: string): OtherThing[] {
  const say = useWords(words)
  const types = useWords(typeWords)
  const navigate = useNavigate()
  const isAsked = q.length >= leastText
  const found = useQuery({
    ...reading<SearchReply>('/api/search', {
      ...{ q, limit: shown },
      type: foundTypes.filter(type => type !== 'run').join(','),
    }),
    enabled: isAsked,
    placeholderData: before => before,
  })
  if (!isAsked) return []
  const things = (found.data?.results ?? []).map(({ type, ref, name, path }) => {
    const [to = '/', query] = path.split('?')
    return {
      key: `${type}:${ref}`,
      text: `${types[type]}: ${visible(name)}`,
      act: () => void navigate({ to, search: Object.fromEntries(new URLSearchParams(query)) }),
    }
  })
  const everything = {
    key: 'everything',
    text: say.everything(q),
    act: () => void navigate({ to: '/search', search: { q } }),
  }
  return [...things, everything]
}
