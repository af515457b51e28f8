export function Page() {
  return <h1>Queue</h1>
}
