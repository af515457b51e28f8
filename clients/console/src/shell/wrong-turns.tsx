import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { Button } from '../design/button.tsx'
import { Empty, Failure } from '../design/notice.tsx'
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
  broken: ['Your work elsewhere is not affected.', '其他操作不受影响。'],
  again: ['Try again', '重试'],
  unloaded: [
    'The code of this page could not be loaded: the server is unreachable, or was upgraded since the console was opened.',
    '无法加载此页面的代码：服务器暂不可用，或在打开控制台后已升级。',
  ],
  reload: ['Reload', '重新加载'],
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
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <>
      <h1>{say.failed}</h1>
      <Empty text={isMissing ? say.unloaded : say.broken}>
        <Failure error={error} />
        {isMissing ? (
          <Button onClick={() => location.reload()}>{say.reload}</Button>
        ) : (
          <Button onClick={again}>{say.again}</Button>
        )}
      </Empty>
    </>
  )
}
