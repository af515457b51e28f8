import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { Button } from '../design/button.tsx'
import { Empty, Failure } from '../design/notice.tsx'
import { useWords, wordsOf } from '../words/words.ts'

const words = wordsOf({
  missing: ['There is no such page, or you may not see it.', '没有这个页面，或您无权查看。'],
  home: ['To the home page', '返回首页'],
  broken: [
    'This page failed. What you did elsewhere is not affected.',
    '此页面出错，其他操作不受影响。',
  ],
  again: ['Try again', '重试'],
})

export function NotFound() {
  const say = useWords(words)
  return (
    <Empty text={say.missing}>
      <Link to="/">{say.home}</Link>
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
