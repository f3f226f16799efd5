-- Which projects are there? One value per row.
SELECT DISTINCT project FROM task_versions WHERE project != 'passhat-doctor' ORDER BY project
