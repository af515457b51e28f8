import { hasCode } from '../../platform/files/content.ts'
import { Refusal } from '../../platform/refusal.ts'
import { FaultyRecipe } from '../../recipes/catalogue.ts'

/** Refuses whatever is wrong with an uploaded archive of a recipe or an RL environment: the code of the refusal begins with the noun. */
export async function refusingFaults<T>(noun: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof FaultyRecipe)
      throw new Refusal('invalid', error.message, { code: `${noun}.faulty`, cause: error })
    if (hasCode(error, 'ENOENT'))
      throw new Refusal('conflict', 'The uploaded archive is not, or no longer, on this machine', {
        code: `${noun}.archive_missing`,
        hint: 'Upload it again; with several hosts, check that they share <data>/uploads',
        cause: error,
      })
    throw error
  }
}
