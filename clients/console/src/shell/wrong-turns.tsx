import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Button } from '../design/button.tsx'
import { Empty, Failure } from '../design/notice.tsx'
import { isAnswering } from '../session/session.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { isMissingScript } from './missing-script.ts'

const words = wordsOf({
  missing: [
    'This page does not exist: the address may be mistyped, or belong to a project that you are not a member of.',
    '没有这个页面：地址可能有误，或属于您未加入的项目。',
  ],
  runs: ['Go to your runs', '返回您可以查看的运行'],
  notFound: ['Not found', '未找到'],
  failed: ['This page failed', '页面出错'],
  away: ['The server is away', '服务器暂不可用'],
  broken: ['Your work elsewhere is not affected.', '其他操作不受影响。'],
  again: ['Try again', '重试'],
  unloaded: [
    'The code of this page could not be loaded: the server is unreachable, or was upgraded since the console was opened.',
    '无法加载此页面的代码：服务器暂不可用，或在打开控制台后已升级。',
  ],
  reload: ['Reload', '重新加载'],
  waiting: [
    'The server does not respond. This page opens automatically as soon as it does.',
    '服务器没有响应。恢复后会自动打开此页面。',
  ],
})

/** `isPart`: the page around it has its own heading. */
export function NotFound({ error = null, isPart }: { error?: unknown; isPart?: boolean }) {
  const say = useWords(words)
  return (
    <>
      {!isPart && <h1>{say.notFound}</h1>}
      <Empty text={say.missing}>
        <Failure error={error} />
        <Link to="/runs">{say.runs}</Link>
      </Empty>
    </>
  )
}

/** Replaces a page whose script failed; the frame around it keeps working. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const say = useWords(words)
  const router = useRouter()
  const isMissing = isMissingScript(error)
  const isAway = useReload(isMissing)
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <>
      <h1>{isAway ? say.away : say.failed}</h1>
      <Empty text={isAway ? say.waiting : isMissing ? say.unloaded : say.broken}>
        {!isAway && <Failure error={error} />}
        {isMissing ? (
          <Button onClick={() => location.reload()}>{say.reload}</Button>
        ) : (
          <Button onClick={again}>{say.again}</Button>
        )}
      </Empty>
    </>
  )
}

const againMs = 1_000

/** A server that is starting may respond to everything with 503. */
const isServed = (): Promise<boolean> =>
  fetch(location.href, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/** True while the server is away, which is why the code is missing; once it is back, the page is loaded again. */
function useReload(isMissing: boolean): boolean {
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    if (!isMissing) return
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const look = async (wasAway: boolean) => {
      const isBack = (await isAnswering()) && (await isServed())
      if (isOver) return
      setAway(!isBack)
      // A server that was there all the time was upgraded, or has lost the file: a person decides.
      if (isBack && wasAway) location.reload()
      else if (!isBack) timer = setTimeout(() => void look(true), againMs)
    }
    void look(false)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [isMissing])
  return isAway
}
