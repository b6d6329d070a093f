"""The routes of the JSON API. They parse, call the workbench, and answer; a project does the work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Body, Header, Query, Request
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.background import BackgroundTask

from shoal.errors import UsageError
from shoal.settings.read import parse_config
from shoal.web.api import forms
from shoal.web.files import FILES, Upload, display_name
from shoal.web.projects import Project
from shoal.web.runs import Run, file_of
from shoal.web.workbench import Workbench

__all__ = ["make_router"]

PIECE = 1 << 20
EVENT_SECONDS = 0.2
OCTETS = {"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}
TOML = {"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    code: {
        "description": text,
        "content": {"application/json": {"schema": {"type": "object", "required": ["error"]}}},
    }
    for code, text in {
        400: "A value is wrong",
        401: "No session",
        403: "Not for this server",
        404: "No such project, run or file",
        409: "Not now, or not with this goal",
        413: "Too large",
        415: "Another kind of body is needed",
        421: "Another host",
        422: "The input cannot be used",
        429: "Too many attempts",
    }.items()
}
Start = Annotated[int, Query(ge=0, le=2**62)]
Count = Annotated[int, Query(ge=1, le=500)]
FileName = Annotated[
    str, Header(alias="X-File-Name", max_length=2000, description="The name of the file, percent-encoded.")
]


def make_router(bench: Workbench) -> APIRouter:
    """Return the routes over a workbench."""
    router = APIRouter(prefix="/api/projects", responses=ERRORS)
    _add_projects(router, bench)
    _add_tables(router, bench)
    _add_settings(router, bench)
    _add_runs(router, bench)
    return router


def described(project: Project) -> dict[str, Any]:
    """Return a project as JSON."""
    return {
        "id": project.id,
        "name": project.name,
        "created": project.created,
        "state": project.state,
        "fraction": round(project.loading.fraction, 4) if project.state == "loading" else None,
        "error": None if project.error is None else {"kind": type(project.error).__name__, "text": str(project.error)},
        "table": project.table,
        "keep_data": project.keep_data,
        "version": project.version,
        "can_undo": project.can_undo,
        "can_redo": project.can_redo,
        "files": project.hierarchy_files(),
        "runs": [run.id for run in project.runs()],
    }


def _attachment(path: Path, name: str, task: BackgroundTask | None = None) -> FileResponse:
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(display_name(name))}"}
    return FileResponse(path, media_type="application/octet-stream", headers=headers, background=task)


async def _receive(request: Request, upload: Upload) -> None:
    """Write the body of a request to disk as it arrives."""
    if request.headers.get("content-type", "").startswith(("multipart/", "application/x-www-form-urlencoded")):
        upload.abort()
        raise UsageError("send the file itself as the body of the request, not a form.")
    pieces = bytearray()
    try:
        async for piece in request.stream():
            pieces += piece
            if len(pieces) >= PIECE:
                await asyncio.to_thread(upload.write, bytes(pieces))
                pieces.clear()
        await asyncio.to_thread(upload.write, bytes(pieces))
    except BaseException:
        upload.abort()
        raise


def _add_projects(router: APIRouter, bench: Workbench) -> None:
    @router.get("", summary="List the projects")
    def list_projects() -> list[dict[str, Any]]:
        return [described(project) for project in bench.projects()]

    @router.post("", status_code=201, summary="Create a project")
    def create(form: forms.NewForm) -> dict[str, Any]:
        return described(bench.create(form.name))

    @router.post("/import", status_code=201, summary="Create a project from a zip file", openapi_extra=OCTETS)
    async def import_zip(request: Request) -> dict[str, Any]:
        upload = bench.upload()
        await _receive(request, upload)
        path = upload.finish()

        def unpack() -> Project:
            try:
                with open(path, "rb") as stream:
                    return bench.import_zip(stream)
            finally:
                path.unlink()

        return described(await asyncio.to_thread(unpack))

    @router.get("/{project_id}", summary="Show a project")
    def show(project_id: str) -> dict[str, Any]:
        return described(bench.open(project_id))

    @router.patch("/{project_id}", summary="Rename a project, or keep its data on this machine")
    def change(project_id: str, form: forms.ChangeForm) -> dict[str, Any]:
        project = bench.open(project_id)
        if form.name is not None:
            project.rename(form.name)
        if form.keep_data is not None:
            project.set_keep_data(form.keep_data)
        return described(project)

    @router.delete("/{project_id}", status_code=204, summary="Delete a project and its data")
    def delete(project_id: str) -> None:
        bench.delete(project_id)

    @router.delete("/{project_id}/data", status_code=204, summary="Delete the data of a project")
    def delete_data(project_id: str) -> None:
        bench.open(project_id).delete_data()

    @router.get("/{project_id}/export", summary="Pack a project into a zip file", response_class=FileResponse)
    def export(project_id: str, with_data: bool = False) -> FileResponse:
        path = bench.export_zip(project_id, with_data=with_data)
        name = f"{bench.open(project_id).name.replace('/', '_')}.zip"
        return _attachment(path, name, BackgroundTask(path.unlink, missing_ok=True))


def _add_tables(router: APIRouter, bench: Workbench) -> None:
    async def upload(
        request: Request,
        project_id: str,
        x_file_name: FileName = "table.csv",
        sheet: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> dict[str, Any]:
        project = bench.open(project_id)
        arriving = project.upload()
        await _receive(request, arriving)
        reading = {"sheet": sheet, "delimiter": delimiter, "encoding": encoding, "header": header}
        await asyncio.to_thread(project.load_upload, arriving, unquote(x_file_name), **reading)
        return described(project)

    for method in (router.put, router.post):
        method("/{project_id}/table", status_code=202, summary="Send a table", openapi_extra=OCTETS)(upload)

    def load(path: str, summary: str) -> Callable[[Any], Any]:
        return router.post(f"/{{project_id}}/{path}", status_code=202, summary=summary)

    @load("builtin", "Load a built-in table")
    def load_builtin(project_id: str, form: forms.BuiltinForm) -> dict[str, Any]:
        project = bench.open(project_id)
        project.load_builtin(form.name)
        return described(project)

    @load("url", "Load a table of a database")
    def load_url(project_id: str, form: forms.URLForm) -> dict[str, Any]:
        project = bench.open(project_id)
        project.load_url(form.url)
        return described(project)

    @load("reload", "Read the table again in another way")
    def reload(project_id: str, form: forms.ReadingForm) -> dict[str, Any]:
        project = bench.open(project_id)
        project.reload(**form.given())
        return described(project)

    @router.get("/{project_id}/rows", summary="Show rows of the table")
    def rows(project_id: str, start: Start = 0, count: Count = 100) -> dict[str, Any]:
        project = bench.open(project_id)
        return {"start": start, "rows": project.rows(start, count)}

    @router.get("/{project_id}/profile", summary="Show facts and proposals for every column")
    def profile(project_id: str) -> dict[str, Any]:
        return bench.open(project_id).profile()

    @router.get("/{project_id}/uniques", summary="Count the rows and people that are unique")
    def uniques(
        project_id: str, qi: Annotated[list[str] | None, Query()] = None, person: str | None = None
    ) -> dict[str, int]:
        return bench.open(project_id).uniques(qi, person)._asdict()


def _add_settings(router: APIRouter, bench: Workbench) -> None:
    def put(project: Project, content: dict[str, Any]) -> dict[str, Any]:
        project.replace_settings(parse_config(content, "settings", project.folder))
        return project.plain_settings()

    @router.get("/{project_id}/settings", summary="Show the settings in the form of a shoal.toml")
    def settings(project_id: str) -> dict[str, Any]:
        return bench.open(project_id).plain_settings()

    @router.put("/{project_id}/settings", summary="Replace the settings")
    def replace(project_id: str, content: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        return put(bench.open(project_id), content)

    @router.patch("/{project_id}/settings", summary="Change some settings: a JSON merge patch, null opens a setting")
    def patch(project_id: str, content: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        project = bench.open(project_id)
        return put(project, _merged(project.plain_settings(), content))

    @router.get("/{project_id}/settings.toml", summary="Download the settings", response_class=PlainTextResponse)
    def download(project_id: str) -> PlainTextResponse:
        headers = {"Content-Disposition": 'attachment; filename="shoal.toml"'}
        return PlainTextResponse(bench.open(project_id).toml(), media_type="application/toml", headers=headers)

    @router.put("/{project_id}/settings.toml", summary="Replace the settings by a shoal.toml", openapi_extra=TOML)
    async def upload(project_id: str, request: Request) -> dict[str, Any]:
        project = bench.open(project_id)
        await asyncio.to_thread(project.replace_toml, await request.body())
        return project.plain_settings()

    @router.post("/{project_id}/roles", summary="Give columns a role")
    def roles(project_id: str, form: forms.RolesForm) -> dict[str, Any]:
        project = bench.open(project_id)
        project.set_role(form.columns, form.role)
        return project.plain_settings()

    @router.post("/{project_id}/undo", summary="Take back the last change")
    def undo(project_id: str) -> dict[str, Any]:
        project = bench.open(project_id)
        project.undo()
        return project.plain_settings()

    @router.post("/{project_id}/redo", summary="Make the last change again")
    def redo(project_id: str) -> dict[str, Any]:
        project = bench.open(project_id)
        project.redo()
        return project.plain_settings()

    async def add_file(request: Request, project_id: str, x_file_name: FileName = "hierarchy.csv") -> dict[str, Any]:
        project = bench.open(project_id)
        arriving = project.upload()
        await _receive(request, arriving)

        def keep() -> str:
            path = arriving.finish()
            try:
                with open(path, "rb") as stream:
                    return project.add_hierarchy(stream, unquote(x_file_name))
            finally:
                path.unlink()

        return {"name": f"{FILES}/{await asyncio.to_thread(keep)}"}

    for method in (router.put, router.post):
        method("/{project_id}/files", status_code=201, summary="Send a hierarchy", openapi_extra=OCTETS)(add_file)

    @router.get("/{project_id}/hierarchy", summary="Lay out a hierarchy over the values of a column")
    def hierarchy(project_id: str, column: str, rule: str = "auto") -> dict[str, Any]:
        return bench.open(project_id).hierarchy(column, rule)


def _merged(content: Any, patch: Any) -> Any:
    """Return plain values with a JSON merge patch (RFC 7396) applied."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(content) if isinstance(content, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def _add_runs(router: APIRouter, bench: Workbench) -> None:
    @router.post("/{project_id}/runs", status_code=202, summary="Start a run with the current settings")
    def start(project_id: str, form: forms.RunForm) -> dict[str, Any]:
        return bench.open(project_id).start_run(form.format).as_dict()

    @router.get("/{project_id}/runs", summary="List the runs")
    def list_runs(project_id: str) -> list[dict[str, Any]]:
        return [run.as_dict() for run in bench.open(project_id).runs()]

    @router.get("/{project_id}/runs/{run_id}", summary="Show a run: state, progress, result, files")
    def show(project_id: str, run_id: str) -> dict[str, Any]:
        return bench.open(project_id).run(run_id).as_dict()

    @router.post("/{project_id}/runs/{run_id}/cancel", summary="Cancel a run")
    def cancel(project_id: str, run_id: str) -> dict[str, Any]:
        run = bench.open(project_id).run(run_id)
        run.cancel()
        return run.as_dict()

    @router.get(
        "/{project_id}/runs/{run_id}/events",
        summary="Follow a run: server-sent events until it is over",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def events(project_id: str, run_id: str) -> StreamingResponse:
        return StreamingResponse(_events(bench.open(project_id).run(run_id)), media_type="text/event-stream")

    @router.get("/{project_id}/runs/{run_id}/report", summary="Show the report of a run")
    def report(project_id: str, run_id: str, private: bool = True) -> dict[str, Any]:
        return bench.open(project_id).run(run_id).report(private=private)

    @router.get("/{project_id}/runs/{run_id}/rows", summary="Show released rows beside their originals")
    def rows(project_id: str, run_id: str, start: Start = 0, count: Count = 100) -> dict[str, Any]:
        return bench.open(project_id).run(run_id).before_after(start, count)

    @router.get("/{project_id}/runs/{run_id}/repeat", summary="Show the command and the Python that repeat a run")
    def repeat(project_id: str, run_id: str) -> dict[str, str]:
        project = bench.open(project_id)
        run = project.run(run_id)
        return {"command_line": project.command_line(run), "python": project.python_code(run)}

    @router.get(
        "/{project_id}/runs/{run_id}/files/{name}", summary="Download a file of a run", response_class=FileResponse
    )
    def download(project_id: str, run_id: str, name: str) -> FileResponse:
        return _attachment(file_of(bench.open(project_id).run(run_id), name), name)

    @router.post("/{project_id}/forecast", summary="Estimate loss and risk with changed settings")
    def forecast(project_id: str, content: Annotated[dict[str, Any], Body()]) -> JSONResponse:
        project = bench.open(project_id)
        settings = parse_config(_merged(project.plain_settings(), content), "settings", project.folder)
        return JSONResponse(project.forecast_for(settings))


async def _events(run: Run) -> AsyncIterator[str]:
    """Yield the state of a run whenever it changes, and once at its end."""
    last = ""
    while True:
        is_over = run.state.is_over
        shown = json.dumps(run.progress_dict())
        if shown != last:
            last = shown
            yield f"event: {'end' if is_over else 'progress'}\ndata: {shown}\n\n"
        if is_over:
            return
        await asyncio.sleep(EVENT_SECONDS)
