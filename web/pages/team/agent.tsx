export function Agent() {
  return (
    <>
      <title>Agent · Covenant</title>
      <h1>Agent</h1>
    </>
  );
}
