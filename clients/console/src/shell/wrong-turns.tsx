import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { Button } from '../design/button.tsx'
import { Empty, Failure } from '../design/notice.tsx'
import { useWords, wordsOf } from '../words/words.ts'

const words = wordsOf({
  missing: [
    'There is no such page: the address may be mistyped, or belong to a project of which you are not a member.',
    '没有这个页面：地址可能有误，或属于您未加入的项目。',
  ],
  runs: ['To the runs that you may see', '返回您可以查看的运行'],
  broken: [
    'This page failed. What you did elsewhere is not affected.',
    '此页面出错，其他操作不受影响。',
  ],
  again: ['Try again', '重试'],
})

export function NotFound({ error = null }: { error?: unknown }) {
  const say = useWords(words)
  return (
    <Empty text={say.missing}>
      <Failure error={error} />
      <Link to="/runs">{say.runs}</Link>
    </Empty>
  )
}

/** In the place of a page whose script failed; the frame around it goes on. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const say = useWords(words)
  const router = useRouter()
  return (
    <Empty text={say.broken}>
      <Failure error={error} />
      <Button
        onClick={() => {
          reset()
          void router.invalidate()
        }}
      >
        {say.again}
      </Button>
    </Empty>
  )
}
