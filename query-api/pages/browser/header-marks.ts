import { notificationMark } from './notifications.ts'

/**
 * Elements of a page's header beside its title. Each creates its element and keeps it up to date by itself; the list
 * is written by hand.
 */
const headerMarks: readonly (() => HTMLElement)[] = [notificationMark]

/** Also called after a new sign-in, because the person may have changed. */
export function showMarks(place: HTMLElement): void {
  place.replaceChildren(...headerMarks.map(mark => mark()))
}
