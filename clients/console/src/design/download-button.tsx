import { type ReactNode, useState } from 'react'
import { bytesOf } from '../words/amounts.ts'
import { Button } from './button.tsx'
import { Failure } from './notice.tsx'

type Props = {
  /** A path of the API. */
  path: string
  /** The name of the file. */
  name: string
  /** Whether it may be too large for a page to hold. */
  isLarge?: boolean
  /** In a table, where there is one in each row. */
  isQuiet?: boolean
  children: ReactNode
}

/** Saves a file; shows how much has arrived, and what failed. */
export function DownloadButton({ path, name, isLarge = false, isQuiet = false, children }: Props) {
  const [came, setCame] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const onClick = async () => {
    setError(null)
    setCame(0)
    try {
      const { download } = await import('../session/download.ts')
      await download(path, name, { isLarge, onBytes: setCame })
    } catch (fault) {
      setError(fault)
    } finally {
      setCame(null)
    }
  }
  return (
    <>
      <Button
        kind={isQuiet ? 'quiet' : 'plain'}
        busy={came !== null}
        onClick={() => void onClick()}
      >
        {children}
        {came !== null && came > 0 && ` · ${bytesOf(came)}`}
      </Button>
      {error !== null && <Failure error={error} />}
    </>
  )
}
