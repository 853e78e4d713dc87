export function Tools() {
  return (
    <>
      <title>Tools · Covenant</title>
      <h1>Tools</h1>
    </>
  );
}
